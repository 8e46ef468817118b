/** What other chapters use of this one besides its store and schemas. */
export { endConnection, lockAccount } from './connections.ts'
