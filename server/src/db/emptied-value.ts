/** The value of an event whose content was removed: it can be neither shown nor sent again. */
export const emptiedValue = ''
