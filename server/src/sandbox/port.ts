import type { FaultRule, FaultRulesTable } from './fault-rules.ts'
import type { ClockMove } from './move-clock.ts'
import type { Recording, Replacer } from './replace-store.ts'
import type { Snapshot } from './snapshots.ts'

/** How many entries of a world were created, changed and left alone. */
export type WorldCounts = Readonly<Record<'created' | 'updated' | 'unchanged', number>>

/** An error that a fault rule can name. */
export interface KnownError {
  readonly status: number
  readonly code: number
  readonly subcode: number | undefined
}

/** What only a sandbox can do. */
export interface SandboxPort {
  /** Milliseconds that the clock of the service is ahead of the real one. */
  readOffset(): number
  /** Moves the clock of all processes, and resolves when everything is done that is due by then. */
  moveClock(move: ClockMove, record: Recording): Promise<void>
  /** Every error of the API. */
  readonly errors: readonly KnownError[]
  /** Whether the API has an operation of that name. */
  readonly hasOperation: (name: string) => boolean
  listFaults(): Promise<readonly FaultRulesTable[]>
  /** Replaces the rules, and lets go what they held. */
  replaceFaults(rules: readonly FaultRule[], record: Recording): Promise<void>
  listSnapshots(): Promise<readonly Snapshot[]>
  saveSnapshot(name: string, record: Recording): Promise<Snapshot>
  /** False when there is none of that name; throws `SnapshotOutdated`. */
  restoreSnapshot(name: string, replacer: Replacer): Promise<boolean>
  deleteSnapshot(name: string, record: Recording): Promise<boolean>
  /** Empties the store and applies a world, by default that of the start; the clock is the real one again, and there are no faults. */
  reset(world: string | object | undefined, replacer: Replacer): Promise<WorldCounts>
}
