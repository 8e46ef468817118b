import { defineError } from '../../graph/define-error.ts'

export const fileLengthTooLarge = defineError({
  id: 'file_length_too_large',
  status: 400,
  text: 'file_length: it must be an integer from 1 to {max}.',
})
export const uploadsFull = defineError({
  id: 'uploads_full',
  status: 422,
  text: 'file_length: the uploads of this business would have more than {max} bytes; use the handles of those that are complete, wait until older ones expire, or ask whoever runs the service to raise MAX_STORED_BYTES.',
})
export const fileOffsetWrong = defineError({
  id: 'file_offset_wrong',
  status: 400,
  text: 'file_offset: it must be {arrived}, because {arrived} of {length} bytes have arrived.',
})
export const tooManyBytes = defineError({
  id: 'too_many_bytes',
  status: 400,
  text: 'The upload was opened for {length} bytes, so from the offset {offset} it accepts at most {left}; none of these bytes was kept.',
})
export const uploadBrokeOff = defineError({
  id: 'upload_broke_off',
  status: 400,
  text: 'The body broke off; {arrived} of {length} bytes have arrived, continue from there.',
})
export const uploadOfUnknownType = defineError({
  id: 'upload_of_unknown_type',
  status: 400,
  text: 'file_type: the bytes are not {type}; open a new upload with the type that the file has.',
})
export const uploadOfAnotherType = defineError({
  id: 'upload_of_another_type',
  status: 400,
  text: 'file_type: the bytes are {found}, not {type}; open a new upload with the type that the file has.',
})
