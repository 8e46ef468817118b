import type { Transaction } from '../db/database.ts'
import type { ClockMove } from './move-clock.ts'

/** Adds the audit record of what is done, and makes the transaction fail when the caller is no longer admitted. */
export type Recording = (tx: Transaction) => void

/** What only a sandbox can do. */
export interface SandboxPort {
  /** Milliseconds that the clock of the service is ahead of the real one. */
  readOffset(): number
  /** Moves the clock of all processes, and resolves when everything is done that is due by then. */
  moveClock(move: ClockMove, record: Recording): Promise<void>
}
