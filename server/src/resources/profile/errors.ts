import { defineError } from '../../graph/define-error.ts'

/** One sentence for all reasons, so that nobody can probe for the handles of others. */
export const pictureHandleUnknown = defineError({
  id: 'picture_handle_unknown',
  status: 422,
  text: 'profile_picture_handle: no upload of your business has this handle, or it was used already or has expired; upload the picture again and send the new handle.',
})
export const pictureHandleOfAnotherType = defineError({
  id: 'picture_handle_of_another_type',
  status: 422,
  text: 'profile_picture_handle: it is that of a file of type {found}; a picture must be image/jpeg or image/png.',
})
