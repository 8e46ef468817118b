import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import { hour, minute } from '../base/time/duration.ts'
import type { Database, Transaction } from '../db/database.ts'
import { defineSql, defineStatement } from '../db/statement.ts'
import { setTimer } from '../timers/set.ts'
import type { TimerHandler } from '../timers/worker.ts'
import {
  type Arrival,
  type BlobPlace,
  type ByteRange,
  type FileStore,
  placeBytes,
  type StoredFile,
} from './file-store.ts'

/**
 * Blobs and their uses. A blob has a row from before its bytes are in place until after they are gone, and is removed when nothing
 * uses it. Using a blob and removing it both lock that row, so on any number of processes one comes before the other: the blob is used
 * and stays, or it is removed and must be uploaded again.
 */
export interface Files {
  /** The blob, or a part of it; undefined when it does not exist. `size` is that of the whole. */
  get(sha256: string, range?: ByteRange): Promise<{ stream: Readable; size: number } | undefined>
  /** Keeps a blob for `holdTime`; to stay, it must be used by then, with `useFile`. */
  put(source: AsyncIterable<Uint8Array>): Promise<StoredFile>
  /** The same in two steps, for callers that must inspect a blob before keeping it. */
  receive(source: AsyncIterable<Uint8Array>): Promise<ReceivedFile>
}

/** A blob that has arrived completely; `keep` holds it as `put` does. */
export interface ReceivedFile extends Omit<Arrival, 'keep'> {
  keep(): Promise<void>
}

export const sweepTimer = 'files.sweep'
export const removeTimer = 'files.remove'
/** Uploads wait for each other; the work of the service itself does not wait for them. */
const filesTransaction = { fairnessKey: 'files' }
/** From the last byte of a blob to the transaction that uses it: far longer than any request takes. */
export const holdTime = hour

export interface FilesDeps {
  readonly database: Database
  readonly store: FileStore
  readonly clock: Clock
  readonly random: Random
  /** Names the database among those that use the same storage. */
  readonly owner: string
}

const findPlace = defineStatement<{ sha256: string }>()((db, { sha256 }) =>
  db.selectFrom('files').select('place').where('sha256', '=', sha256),
)

export function openFiles({ database, store, clock, random, owner }: FilesDeps): Files {
  const drawPlace = () => (store.removesLate ? owner + random.bytes(placeBytes).toString('hex') : '')

  /** A blob that has a row keeps its place: whoever stored it first may be using it. */
  function hold({ sha256, size }: StoredFile): Promise<string> {
    return database.transaction(async (tx) => {
      const held_until = clock.now() + holdTime
      const { place } = await tx.query
        .insertInto('files')
        .values({ sha256, size, held_until, place: drawPlace() })
        .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ held_until }))
        .returning('place')
        .executeTakeFirstOrThrow()
      await setTimer(tx, { clock, random }, { kind: sweepTimer, due_time: held_until, payload: { sha256 } })
      return place
    }, filesTransaction)
  }
  return {
    async get(sha256, range) {
      if (!store.removesLate) return store.get({ sha256, place: '' }, range)
      const found = await database.read.first(findPlace, { sha256 })
      return found && store.get({ sha256, place: found.place }, range)
    },
    put: (source) => store.put(source, hold),
    async receive(source) {
      const arrival = await store.receive(source)
      return { ...arrival, keep: () => arrival.keep(hold) }
    },
  }
}

const insertUse = defineStatement<{ sha256: string; used_by: string }>()((db, { sha256, used_by }) =>
  db
    .insertInto('file_uses')
    .values({ sha256, used_by })
    .onConflict((conflict) => conflict.doNothing()),
)

/** Records that something uses a blob, in the same transaction. `used_by` names the user, whatever its kind. */
export function useFile(tx: Transaction, sha256: string, used_by: string): void {
  tx.run(insertUse, { sha256, used_by })
}

/** Withdraws that; the blob is removed after its last use. */
export async function releaseFile(
  tx: Transaction,
  { clock, random }: { clock: Clock; random: Random },
  sha256: string,
  used_by: string,
): Promise<void> {
  await tx.query.deleteFrom('file_uses').where('sha256', '=', sha256).where('used_by', '=', used_by).execute()
  await setTimer(tx, { clock, random }, { kind: sweepTimer, due_time: clock.now(), payload: { sha256 } })
}

const deleteUses = defineSql<{ uses: Readonly<Record<string, readonly [sha256: string]>> }>()(
  ({ uses }) => sql`
    DELETE FROM file_uses WHERE (sha256, used_by) IN (SELECT o.value ->> 0, o.key FROM json_each(${uses}) AS o)`,
)

/** Withdraws several uses at once: blobs by their users. */
export async function releaseFiles(
  tx: Transaction,
  tools: { clock: Clock; random: Random },
  uses: Readonly<Record<string, readonly [sha256: string]>>,
): Promise<void> {
  tx.run(deleteUses, { uses })
  const due_time = tools.clock.now()
  for (const sha256 of new Set(Object.values(uses).map(([one]) => one))) {
    await setTimer(tx, tools, { kind: sweepTimer, due_time, payload: { sha256 } })
  }
}

/** After the clock was set back: limits every hold to one hold time from now, like the timers that sweep them. */
export async function correctHolds(tx: Transaction, now: number): Promise<void> {
  const held_until = now + holdTime
  await tx.query.updateTable('files').set({ held_until }).where('held_until', '>', held_until).execute()
}

/** What removing a blob needs besides the transaction. */
export interface RemovalTools {
  readonly store: FileStore
  readonly clock: Clock
  readonly random: Random
}

/**
 * Removes a blob that nothing uses or holds any more. The transaction may not be grouped with others (`alone`).
 *
 * On a file system the bytes are removed inside the transaction, under the lock of their row; if it fails after that, the row remains
 * without a use. So the end of the last use is durable before the bytes are gone: if it were rolled back, a use would be left without
 * its bytes.
 *
 * Where a removal may take effect late, the row goes first, and a timer removes the bytes after the commit: no transaction waits for
 * the network, and whoever stores the blob meanwhile gets another place. Returns that place, for callers that cannot wait for the timer.
 */
export async function removeUnused(
  tx: Transaction,
  { store, clock, random }: RemovalTools,
  sha256: string,
  isHeld: (held_until: number) => boolean,
): Promise<BlobPlace | undefined> {
  const file = await tx.query
    .selectFrom('files')
    .select(['held_until', 'place'])
    .where('sha256', '=', sha256)
    .forUpdate()
    .executeTakeFirst()
  if (!file || isHeld(file.held_until)) return undefined
  const use = await tx.query.selectFrom('file_uses').select('used_by').where('sha256', '=', sha256).executeTakeFirst()
  if (use) return undefined
  const blob = { sha256, place: file.place }
  if (!store.removesLate) await store.remove(blob)
  await tx.query.deleteFrom('files').where('sha256', '=', sha256).execute()
  if (!store.removesLate) return undefined
  await setTimer(tx, { clock, random }, { kind: removeTimer, due_time: clock.now(), payload: blob })
  return blob
}

/** Removes blobs after their last use; when that fails, the timer retries. */
export function makeSweepHandler(tools: RemovalTools): TimerHandler {
  return {
    alone: true,
    deletes: true,
    async finish(tx, payload) {
      const { sha256 } = payload as { sha256: string }
      await removeUnused(tx, tools, sha256, (held_until) => held_until > tools.clock.now())
    },
    retryDelay: () => minute,
  }
}

/** Removes the bytes of a blob whose row is gone. A store that was moved back to a file system has them elsewhere. */
export function makeRemoveHandler(store: FileStore): TimerHandler {
  return {
    act: (payload) => (store.removesLate ? store.remove(payload as BlobPlace) : Promise.resolve()),
    retryDelay: () => minute,
  }
}
