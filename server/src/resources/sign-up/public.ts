/** What other chapters use of this one besides its store and schemas. */
export { endConnection, lockAccount } from './connections.ts'
export { composeSignInError } from './dialog/frame.ts'
export { finishAtIssuer } from './dialog/issuer.ts'
