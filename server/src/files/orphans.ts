import { createHash } from 'node:crypto'
import type { Random } from '../base/keys/random.ts'
import type { Log } from '../base/log/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { day } from '../base/time/duration.ts'
import type { Database } from '../db/database.ts'
import { setTimer } from '../timers/set.ts'
import type { BlobPlace, FileStore } from './file-store.ts'
import { removeTimer, sweepTimer } from './files.ts'

/** Blobs younger than that are left alone: whoever restores a database has this long to notice that it is the wrong one. */
export const orphanAge = day
/** The largest number in one query. */
const batchSize = 500

export interface OrphanDeps {
  readonly database: Database
  readonly store: FileStore
  /** Names the database among those that use the same storage. */
  readonly owner: string
  readonly clock: Clock
  /** The one that storage goes by. */
  readonly realClock: Clock
  readonly random: Random
  readonly log: Log
  readonly isStopped: () => boolean
}

/** A name for a database, made of a secret that only this database has. */
export function nameOwner(secret: string): string {
  return createHash('sha256').update(`owner of files: ${secret}`).digest('hex').slice(0, 12)
}

/**
 * Removes blobs that have no row: their bytes came when the row was swept already, because storage carried out a request late or a
 * process was paused for hours. A row comes before its bytes, so an old blob without one is nobody's; except that of another
 * database, which the store distinguishes.
 */
export async function removeOrphans(deps: OrphanDeps): Promise<void> {
  const { store, owner, log, isStopped } = deps
  const isOwn = await store.claim(owner)
  let found = 0
  for await (const page of store.list()) {
    const own = page.filter(isOwn)
    for (let start = 0; start < own.length && !isStopped(); start += batchSize) {
      for (const orphan of await findOrphans(deps, own.slice(start, start + batchSize))) {
        await removeOrphan(deps, orphan)
        found += 1
      }
    }
    if (isStopped()) break
  }
  if (found > 0) log.info({ files: found }, 'removed files that nothing knew of')
}

async function findOrphans(
  { database, store, realClock }: OrphanDeps,
  blobs: readonly BlobPlace[],
): Promise<Required<BlobPlace & { size: number }>[]> {
  const rows = await database.read.query
    .selectFrom('files')
    .select(['sha256', 'place'])
    .where(
      'sha256',
      'in',
      blobs.map(({ sha256 }) => sha256),
    )
    .execute()
  // Only where places are distinguished is a blob with a row in another place an orphan.
  const nameOf = ({ sha256, place }: BlobPlace) => (store.removesLate ? `${sha256}.${place}` : sha256)
  const known = new Set(rows.map(nameOf))
  const orphans = []
  for (const blob of blobs) {
    if (known.has(nameOf(blob))) continue
    const found = await store.find(blob)
    if (found && found.stored_time < realClock.now() - orphanAge) orphans.push({ ...blob, size: found.size })
  }
  return orphans
}

/**
 * By the timers that remove other blobs. On a file system the blob gets a row first, which nothing holds: its removal then locks that
 * row, and whoever stores the same bytes meanwhile holds it.
 */
async function removeOrphan(
  { database, store, clock, random }: OrphanDeps,
  { sha256, place, size }: BlobPlace & { size: number },
): Promise<void> {
  const due_time = clock.now()
  await database.transaction(async (tx) => {
    if (store.removesLate) {
      await setTimer(tx, { clock, random }, { kind: removeTimer, due_time, payload: { sha256, place } })
      return
    }
    await tx.query
      .insertInto('files')
      .values({ sha256, size, place, held_until: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await setTimer(tx, { clock, random }, { kind: sweepTimer, due_time, payload: { sha256 } })
  })
}
