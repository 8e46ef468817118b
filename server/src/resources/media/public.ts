/** What other chapters use of this one besides its store and schemas. */
export { checkArrived, checkWhileArriving } from './accept.ts'
export { fileTooLarge } from './errors.ts'
export { isMediaType, maxBytesOf, mediaTypes } from './kinds.ts'
export { replyWithFile } from './reply-file.ts'
export { mediaPath } from './rules.ts'
