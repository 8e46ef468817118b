import { defineError } from '../../graph/define-error.ts'

export const fileIsEmpty = defineError({
  id: 'file_is_empty',
  status: 400,
  text: 'file: it is empty; send a file that has bytes.',
})
export const fileTooLarge = defineError({
  id: 'file_too_large',
  status: 400,
  text: 'file: it is too large; {kind} may have at most {max} bytes.',
})
export const storageFull = defineError({
  id: 'storage_full',
  status: 422,
  text: 'file: its account would have stored more than {max} bytes; delete media files, wait until older ones expire, or ask whoever runs the service to raise MAX_STORED_BYTES.',
})
export const fileTypeUnknown = defineError({
  id: 'file_type_unknown',
  status: 400,
  text: 'file: the type of its bytes is unknown; send one of {types}.',
})
export const fileTypeNotTaken = defineError({
  id: 'file_type_not_taken',
  status: 400,
  text: 'file: its bytes are of the type {found}; send one of {types}.',
})
export const dataUrlWithoutComma = defineError({
  id: 'data_url_without_comma',
  status: 400,
  text: 'file: it is a data: URL without a comma; write it as data:<type>;base64,<bytes>.',
})
export const fileNotBase64 = defineError({
  id: 'file_not_base64',
  status: 400,
  text: 'file: it is not base64; send the bytes in base64, or as a data: URL, or as multipart/form-data.',
})

/** The range begins after the end. Only downloads have it. */
export const rangeNotSatisfiable = defineError({
  id: 'range_not_satisfiable',
  status: 416,
  text: 'The range begins behind the end; ask for one that begins within the {size} bytes that there are.',
})
