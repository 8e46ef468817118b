import type { Clock } from '../base/clock.ts'
import { hour, minute } from '../base/duration.ts'
import type { Random } from '../base/random.ts'
import type { Database, Transaction } from '../db/database.ts'
import { setTimer } from '../timers/set.ts'
import type { TimerHandler } from '../timers/worker.ts'
import type { Arrival, FileStore, StoredFile } from './file-store.ts'

/**
 * Contents and what uses them. A content has a row from before its bytes are in place until after they are gone, and goes when
 * nothing uses it. Whoever wants to use a content and whoever wants to remove it lock that row, so on any number of processes
 * one comes before the other: the content is used and stays, or it is removed and comes again.
 */
export interface Files extends Pick<FileStore, 'get'> {
  /** Keeps a content for `holdTime`; what is to stay must be used by then, with `useFile`. */
  put(source: AsyncIterable<Uint8Array>): Promise<StoredFile>
  /** The same in two steps, for who has to look at a content before it is kept. */
  receive(source: AsyncIterable<Uint8Array>): Promise<ReceivedFile>
}

/** A content that has arrived whole; `keep` holds it like `put` does. */
export interface ReceivedFile extends Omit<Arrival, 'keep'> {
  keep(): Promise<void>
}

export const sweepTimer = 'files.sweep'
/** Uploads wait for each other, not the work of the service itself for them. */
const filesShare = { share: 'files' }
/** From the last byte of a content to the transaction that uses it: far longer than any request takes. */
export const holdTime = hour

export interface FilesDeps {
  readonly database: Database
  readonly store: FileStore
  readonly clock: Clock
  readonly random: Random
}

export function openFiles({ database, store, clock, random }: FilesDeps): Files {
  async function hold({ sha256, size }: StoredFile): Promise<void> {
    await database.transaction(async (tx) => {
      const held_until = clock.now() + holdTime
      await tx.query
        .insertInto('files')
        .values({ sha256, size, held_until })
        .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ held_until }))
        .execute()
      await setTimer(tx, { clock, random }, { kind: sweepTimer, due_time: held_until, payload: { sha256 } })
    }, filesShare)
  }
  return {
    get: (sha256, range) => store.get(sha256, range),
    put: (source) => store.put(source, hold),
    async receive(source) {
      const arrival = await store.receive(source)
      return { ...arrival, keep: () => arrival.keep(hold) }
    },
  }
}

/** Says that something uses a content, in the transaction that makes it so. `used_by` names the one thing, whatever its kind. */
export async function useFile(tx: Transaction, sha256: string, used_by: string): Promise<void> {
  await tx.query
    .insertInto('file_uses')
    .values({ sha256, used_by })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Takes that back; the content goes when this was the last use. */
export async function releaseFile(
  tx: Transaction,
  { clock, random }: { clock: Clock; random: Random },
  sha256: string,
  used_by: string,
): Promise<void> {
  await tx.query.deleteFrom('file_uses').where('sha256', '=', sha256).where('used_by', '=', used_by).execute()
  await setTimer(tx, { clock, random }, { kind: sweepTimer, due_time: clock.now(), payload: { sha256 } })
}

/** After the clock was set back: nothing is held for longer than from now on, as the timers that sweep it are not. */
export async function correctHolds(tx: Transaction, now: number): Promise<void> {
  const held_until = now + holdTime
  await tx.query.updateTable('files').set({ held_until }).where('held_until', '>', held_until).execute()
}

/**
 * Removes a content that nothing uses. The bytes go inside the transaction, under the lock of their row; if it fails after
 * that, the row is still there without a use, and the timer comes again. Alone, so that the end of the last use is on the disk
 * before the bytes go: were it undone, a use would be left without them.
 */
export function makeSweepHandler(store: FileStore, clock: Clock): TimerHandler {
  return {
    alone: true,
    async finish(tx, payload) {
      const { sha256 } = payload as { sha256: string }
      const file = await tx.query
        .selectFrom('files')
        .select('held_until')
        .where('sha256', '=', sha256)
        .forUpdate()
        .executeTakeFirst()
      if (!file || file.held_until > clock.now()) return
      const use = await tx.query
        .selectFrom('file_uses')
        .select('used_by')
        .where('sha256', '=', sha256)
        .executeTakeFirst()
      if (use) return
      await store.remove(sha256)
      await tx.query.deleteFrom('files').where('sha256', '=', sha256).execute()
    },
    retryDelay: () => minute,
  }
}
