import { sql } from 'kysely'
import type { Clock } from '../base/clock.ts'
import { hour, minute } from '../base/duration.ts'
import type { Random } from '../base/random.ts'
import type { Database, Transaction } from '../db/database.ts'
import { defineSql } from '../db/statement.ts'
import { setTimer } from '../timers/set.ts'
import type { TimerHandler } from '../timers/worker.ts'
import type { Arrival, FileStore, StoredFile } from './file-store.ts'

/**
 * Blobs and their uses. A blob has a row from before its bytes are in place until after they are gone, and is removed when nothing
 * uses it. Using a blob and removing it both lock that row, so on any number of processes one comes before the other: the blob is used
 * and stays, or it is removed and must be uploaded again.
 */
export interface Files extends Pick<FileStore, 'get'> {
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
/** Uploads wait for each other; the work of the service itself does not wait for them. */
const filesShare = { share: 'files' }
/** From the last byte of a blob to the transaction that uses it: far longer than any request takes. */
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

/** Records that something uses a blob, in the same transaction. `used_by` names the user, whatever its kind. */
export async function useFile(tx: Transaction, sha256: string, used_by: string): Promise<void> {
  await tx.query
    .insertInto('file_uses')
    .values({ sha256, used_by })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
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

/**
 * Removes a blob that nothing uses or holds any more. The bytes are removed inside the transaction, under the lock of their row; if it
 * fails after that, the row remains without a use. The transaction may not be grouped with others (`alone`), so that the end of the
 * last use is durable before the bytes are gone: if it were rolled back, a use would be left without its bytes.
 */
export async function removeUnused(
  tx: Transaction,
  store: FileStore,
  sha256: string,
  isHeld: (held_until: number) => boolean,
): Promise<void> {
  const file = await tx.query
    .selectFrom('files')
    .select('held_until')
    .where('sha256', '=', sha256)
    .forUpdate()
    .executeTakeFirst()
  if (!file || isHeld(file.held_until)) return
  const use = await tx.query.selectFrom('file_uses').select('used_by').where('sha256', '=', sha256).executeTakeFirst()
  if (use) return
  await store.remove(sha256)
  await tx.query.deleteFrom('files').where('sha256', '=', sha256).execute()
}

/** Removes blobs after their last use; when that fails, the timer retries. */
export function makeSweepHandler(store: FileStore, clock: Clock): TimerHandler {
  return {
    alone: true,
    finish(tx, payload) {
      const { sha256 } = payload as { sha256: string }
      return removeUnused(tx, store, sha256, (held_until) => held_until > clock.now())
    },
    retryDelay: () => minute,
  }
}
