/** What other chapters use of this one besides its store and schemas. */
export { isMediaType, mediaTypes } from './kinds.ts'
