/** What other chapters use of this one besides its store and schemas. */
export { callingOff } from './errors.ts'
export { periodMilliseconds, readStatus, toStoredPermission } from './permissions.ts'
export { callRemovals } from './retention-store.ts'
export type { Finding } from './sdp/finding-kinds.ts'
export { findFindings } from './sdp/findings.ts'
