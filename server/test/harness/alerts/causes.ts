import type { Cause } from './cause.ts'
import { hostHangs, nobodyTakesAnything, noWorkerRuns, subscribersRefuse } from './causes-in-deliveries.ts'
import {
  clockDiffers,
  clockJumps,
  eventLoopIsHeld,
  jobIsRenamed,
  processIsKilled,
  sendingIsHeld,
  settingsDiffer,
} from './causes-in-processes.ts'
import {
  databaseHangs,
  databaseIsCutOff,
  databaseIsReadOnly,
  lanesAreLocked,
  migrationIsMissing,
  rowIsLocked,
  storageIsAway,
} from './causes-in-stores.ts'

/** Every alert has its cause here, one after the other; what stands in one row happens at the same time, to save time. */
export const causes: readonly (readonly Cause[])[] = [
  [clockJumps, sendingIsHeld, settingsDiffer, hostHangs],
  [subscribersRefuse, eventLoopIsHeld],
  [nobodyTakesAnything],
  [noWorkerRuns],
  [processIsKilled],
  [jobIsRenamed],
  [databaseIsCutOff],
  [databaseHangs],
  [databaseIsReadOnly],
  [migrationIsMissing],
  [storageIsAway],
  [rowIsLocked],
  [lanesAreLocked],
  [clockDiffers],
]
