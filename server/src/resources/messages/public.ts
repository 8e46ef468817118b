/** What other chapters use of this one besides its store and schemas. */
export { type Address, writeAddress } from './content/address.ts'
export type { Choices } from './content/choices.ts'
export { isMediaKind } from './content/kinds.ts'
export { checkAddress } from './content/public-interactive.ts'
export { listStoredTexts } from './content/texts.ts'
export { mediaUnknown } from './errors.ts'
export {
  type Incoming,
  type IncomingMessage,
  type MediaOfMessages,
  readWritersOf,
  type StoredIncoming,
  storeIncoming,
} from './incoming/incoming.ts'
export {
  canStoreAtOnce,
  type RecentlyVerifiedNumber,
  storeAtOnce,
} from './incoming/incoming-at-once.ts'
export { listNumbersOfMessages } from './incoming/incoming-store.ts'
export { drawMessageId } from './message-ids.ts'
export { deleteContents } from './retention/retention-store.ts'
export { defaultFilename, isWindowOpen } from './rules.ts'
export { nameOf, writeSeconds } from './status/events.ts'
export { describeFailure, explainFailure, failureCodes } from './status/failures.ts'
export { comeOnline, endWaiting, isBlockedByUser } from './status/phone.ts'
export { deleteIncoming, type ReportTools, reportStatus, takeHandedStatus } from './status/report.ts'
export { isExpired } from './status/states.ts'
