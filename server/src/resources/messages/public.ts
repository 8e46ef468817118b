/** What other chapters use of this one besides its store and schemas. */
export type { Choices } from './choices.ts'
export { mediaUnknown } from './errors.ts'
export { type EventTools, nameOf, writeSeconds } from './events.ts'
export { describeFailure, failureCodes } from './failures.ts'
export {
  type Incoming,
  type IncomingMessage,
  isOfUser,
  readWritersOf,
  type StoredIncoming,
  storeIncoming,
} from './incoming.ts'
export { type BelievedNumber, canStoreAtOnce, storeAtOnce } from './incoming-at-once.ts'
export { listNumbersOfMessages } from './incoming-store.ts'
export { isMediaKind } from './kinds.ts'
export { comeOnline, endWaiting, isBlockedByUser, type PhoneTools } from './phone.ts'
export { deleteIncoming, type ReportTools, reportStatus, takeHandedStatus } from './report.ts'
export { deleteContents } from './retention-store.ts'
export { defaultFilename, drawMessageId, isWindowOpen } from './rules.ts'
export { isExpired } from './states.ts'
