/** What other chapters use of this one besides its store and schemas. */
export { withdrawAccess } from './withdraw.ts'
