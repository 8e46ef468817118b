import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import { type Database, DatabaseBusy, type Transaction } from '../db/database.ts'
import { emptyTables, listReplacedTables, lockOutWriters } from '../db/replace/replaceable-tables.ts'
import { sweepTimer } from '../files/files.ts'
import { setTimer } from '../timers/set.ts'
import type { SandboxClock } from './sandbox-clock.ts'
import { changeSandboxState, findLastIds, lockSandboxState, moveWithClock, type SandboxState } from './state.ts'
import type { SandboxWatch } from './watch.ts'

/** The users of blobs that snapshots are: whatever else goes, these blobs stay. */
export const snapshotUser = 'snapshot:'

const maxTries = 50
const pauseMilliseconds = 20

export interface ReplaceDeps {
  readonly database: Database
  readonly clock: SandboxClock
  readonly random: Random
  readonly watch: SandboxWatch
  /** Does what is due, and removes files that nothing uses any more. */
  readonly clean: () => Promise<void>
}

/** Adds the audit record of what is done, and makes the transaction fail when the caller is no longer admitted. */
export type Recording = (tx: Transaction) => void

/** Who does it. */
export interface Replacer {
  /** Fails the transaction when the caller is no longer admitted; before anything is replaced. */
  confirm(tx: Transaction): void
  /** Adds the audit record to the new store, whose clock may show another time. */
  record(tx: Transaction, now: number): void
}

/** What comes instead; `tables` are empty, each comes before those that it refers to. Returns what it makes of the state of the sandbox. */
export type Fill<T> = (
  tx: Transaction,
  tables: readonly string[],
) => Promise<{ result: T; state: Partial<Pick<SandboxState, 'clock_offset'>> }>

/**
 * Replaces the contents of the store in one transaction: whoever reads sees what was there before or what came instead. Writes
 * under way end before it; those that come meanwhile wait, and find the new store or that their caller is gone.
 */
export async function replaceStore<T>(deps: ReplaceDeps, replacer: Replacer, fill: Fill<T>): Promise<T> {
  const { database, clock, watch } = deps
  const { result, state } = await tryAgain(() =>
    database.transaction(
      async (tx) => {
        const before = await lockSandboxState(tx)
        const tables = await listReplacedTables(tx, database)
        await lockOutWriters(tx, database, tables)
        replacer.confirm(tx)
        const ids = await findLastIds(tx, before)
        await emptyTables(tx, tables)
        await tx.query.deleteFrom('file_uses').where('used_by', 'not like', `${snapshotUser}%`).execute()
        await tx.query.updateTable('files').set({ held_until: 0 }).execute()
        const filled = await fill(tx, tables)
        const { clock_offset = before.clock_offset } = filled.state
        const now = clock.real.now() + clock_offset
        const after = {
          clock_offset,
          generation: before.generation + 1,
          faults_version: before.faults_version + 1,
          replaced_time: now,
          ...(await findLastIds(tx, ids)),
        }
        await changeSandboxState(tx, after)
        await moveWithClock(tx, clock_offset - before.clock_offset)
        await sweepAllFiles(tx, deps.random, now)
        replacer.record(tx, now)
        return { result: filled.result, state: after }
      },
      { alone: true },
    ),
  )
  watch.take(state)
  await watch.follow()
  await deps.clean()
  return result
}

/** Writes under way hold locks that it needs: then they come first. */
async function tryAgain<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DatabaseBusy) || tries === maxTries) throw error
      await wait(pauseMilliseconds)
    }
  }
}

/** Lets every blob be removed that nothing uses now. */
async function sweepAllFiles(tx: Transaction, random: Random, now: number): Promise<void> {
  const clock: Clock = { now: () => now }
  const used = tx.query.selectFrom('file_uses').select('sha256')
  const unused = await tx.query.selectFrom('files').select('sha256').where('sha256', 'not in', used).execute()
  for (const { sha256 } of unused) {
    await setTimer(tx, { clock, random }, { kind: sweepTimer, due_time: now, payload: { sha256 } })
  }
}
