import { sql } from 'kysely'
import { type Database, DatabaseBusy, type Db, type Transaction } from '../db/database.ts'
import { type BegunCopy, beginConsistentRead, beginCopy, openCopy, removeCopy } from '../db/replace/copy-store.ts'
import { readMigrations } from '../db/schema/migrations.ts'
import { defineStatement } from '../db/statement.ts'
import { isUniqueViolation } from '../db/unique.ts'
import { sweepTimer } from '../files/files.ts'
import { setTimer } from '../timers/set.ts'
import { type Recording, type ReplaceDeps, type Replacer, replaceStore, snapshotUser } from './replace-store.ts'

declare module '../db/tables.ts' {
  interface Tables {
    snapshots: SnapshotsTable
  }
}

interface SnapshotsTable {
  name: string
  id: string
  created_time: number
  migration: string
  /** `saving` until all of it is there; until then it has a name of its own. */
  state: 'saving' | 'saved'
}

export type Snapshot = Readonly<Pick<SnapshotsTable, 'name' | 'created_time'>>

/** Saved by a version with another schema. */
export class SnapshotOutdated extends Error {}

/** Each is a copy of the whole store, and keeps its files. */
export const maxSnapshots = 100

/** There are as many as there may be. */
export class SnapshotsFull extends Error {}

const findSaved = defineStatement<object>()((db) =>
  db.selectFrom('snapshots').select(['name', 'created_time']).where('state', '=', 'saved').orderBy('name'),
)

export async function listSnapshots(db: Db): Promise<Snapshot[]> {
  return db.list(findSaved, {})
}

/**
 * Saves the whole store under a name, instead of what was saved under it before; that stays until all of the new one is there. When it
 * fails, nothing of it is left; what cannot be removed then, because the database is gone, goes when the name is used or deleted the next time.
 */
export function saveSnapshot(deps: ReplaceDeps, name: string, record: Recording): Promise<Snapshot> {
  const before = saving.get(deps.database) ?? Promise.resolve()
  const saved = before.then(() => saveAlone(deps, name, record))
  saving.set(
    deps.database,
    saved.catch(() => undefined),
  )
  return saved
}

/** The last save of each store: they come one after the other, because each copies everything. */
const saving = new WeakMap<Database, Promise<unknown>>()

async function saveAlone(deps: ReplaceDeps, name: string, record: Recording): Promise<Snapshot> {
  const id = deps.random.trace()
  const created_time = deps.clock.now()
  let begun: BegunCopy | undefined
  let isBegun = false
  const begin = async (tx: Transaction) => {
    // The database may ask for the transaction to be run again.
    await begun?.abandon()
    begun = await beginCopy(tx, deps.database, id)
    return begun
  }
  try {
    const { copy, removeUnfinished } = await beginSnapshot(deps, { name, id, created_time }, begin, record)
    isBegun = true
    await removeUnfinished()
    await copy.finish()
    const removeOld = await deps.database.transaction((tx) => finishSnapshot(tx, deps, { name, id }))
    await removeOld()
  } catch (error) {
    // First, because a full disk may have no room for the transaction otherwise.
    await begun?.abandon().catch(() => undefined)
    // Who saved under the name or deleted it meanwhile has removed the file of this one, too: as if this one had come first.
    if (isBegun && (await isForgotten(deps, id))) return { name, created_time }
    await discard(deps, id).catch(() => undefined)
    // Another process saves under the name at this moment.
    throw isUniqueViolation(error) ? new DatabaseBusy('locked', `${name} is being saved`, { cause: error }) : error
  }
  return { name, created_time }
}

/** Whether a snapshot that was begun is not there any more; false when nobody can say. */
async function isForgotten({ database }: ReplaceDeps, id: string): Promise<boolean> {
  const find = database.read.query.selectFrom('snapshots').select('id').where('id', '=', id)
  const found = await find.execute().catch(() => [{ id }])
  return found.length === 0
}

function beginSnapshot(
  deps: ReplaceDeps,
  { name, ...row }: Pick<SnapshotsTable, 'name' | 'id' | 'created_time'>,
  begin: (tx: Transaction) => Promise<BegunCopy>,
  record: Recording,
) {
  const unfinished = nameWhileSaving(name)
  return deps.database.transaction(
    async (tx) => {
      await beginConsistentRead(tx, deps.database)
      await checkRoom(tx, [name, unfinished])
      const copy = await begin(tx)
      const removeUnfinished = await forget(tx, deps, { name: unfinished })
      // Its blobs stay while it is there.
      const used_by = `${snapshotUser}${row.id}`
      await sql`INSERT INTO file_uses (sha256, used_by) SELECT sha256, ${used_by} FROM files`.execute(tx.query)
      await tx.query
        .insertInto('snapshots')
        .values({ ...row, name: unfinished, migration: newestMigration(), state: 'saving' })
        .execute()
      record(tx)
      return { copy, removeUnfinished: async () => removeUnfinished?.() }
    },
    { alone: true },
  )
}

/** Throws when there is no room besides the snapshots of these names, which will be replaced. */
async function checkRoom({ query }: Transaction, names: readonly string[]): Promise<void> {
  const others = await query.selectFrom('snapshots').select('id').where('name', 'not in', names).execute()
  if (others.length >= maxSnapshots) throw new SnapshotsFull()
}

/** Gives it its name, unless somebody saved under that name or deleted it meanwhile; returns what is left to do after the commit. */
async function finishSnapshot(
  tx: Transaction,
  deps: ReplaceDeps,
  { name, id }: Pick<SnapshotsTable, 'name' | 'id'>,
): Promise<() => Promise<void>> {
  const own = await tx.query.selectFrom('snapshots').select('id').where('id', '=', id).forUpdate().executeTakeFirst()
  if (!own) return removeCopy(tx, deps.database, id)
  const removeOld = await forget(tx, deps, { name })
  await tx.query.updateTable('snapshots').set({ name, state: 'saved' }).where('id', '=', id).execute()
  return async () => removeOld?.()
}

/** No caller can give this name. */
function nameWhileSaving(name: string): string {
  return `${name} (saving)`
}

async function discard(deps: ReplaceDeps, id: string): Promise<void> {
  const remove = await deps.database.transaction((tx) => forget(tx, deps, { id, state: 'saving' }))
  await remove?.()
}

/** False when there is none of that name. */
export async function restoreSnapshot(deps: ReplaceDeps, name: string, replacer: Replacer): Promise<boolean> {
  const { database } = deps
  const found = await database.read.query
    .selectFrom('snapshots')
    .selectAll()
    .where('name', '=', name)
    .executeTakeFirst()
  if (found?.state !== 'saved') return false
  if (found.migration !== newestMigration()) throw new SnapshotOutdated()
  await replaceStore(deps, replacer, async (tx, tables) => {
    const copy = await openCopy(tx, database, found.id)
    try {
      for (const table of ['signing_keys', 'files']) await copy.load(table, { spare: true })
      await copy.load('file_uses', { spare: true, where: `used_by NOT LIKE '${snapshotUser}%'` })
      // Listeners do not get again what they got before: they begin anew.
      for (const table of tables.toReversed()) if (table !== 'stream_events') await copy.load(table)
      await tx.query.updateTable('timers').set({ leased_until: 0, lease_owner: null }).execute()
      await tx.query.updateTable('lanes').set({ leased_until: 0, lease_owner: null }).execute()
      await tx.query.updateTable('link_fetches').set({ leased_until: 0, claim: null }).execute()
      return { result: undefined, state: { clock_offset: await copy.readOffset() } }
    } finally {
      copy.close()
    }
  })
  return true
}

/** False when there is none of that name. */
export async function deleteSnapshot(deps: ReplaceDeps, name: string, record: Recording): Promise<boolean> {
  const removed = await deps.database.transaction(async (tx) => {
    const saved = await forget(tx, deps, { name })
    const unfinished = await forget(tx, deps, { name: nameWhileSaving(name) })
    if (!saved && !unfinished) return undefined
    record(tx)
    return async () => {
      await saved?.()
      await unfinished?.()
    }
  })
  await removed?.()
  return removed !== undefined
}

/** Removes a snapshot with its uses of blobs; returns what is left to do after the commit, undefined when there is none. */
async function forget(
  tx: Transaction,
  { database, clock, random }: ReplaceDeps,
  which: Partial<Pick<SnapshotsTable, 'name' | 'id' | 'state'>>,
): Promise<(() => Promise<void>) | undefined> {
  const known = await tx.query
    .deleteFrom('snapshots')
    .where(({ and }) => and(which))
    .returning('id')
    .executeTakeFirst()
  if (!known) return undefined
  const used_by = `${snapshotUser}${known.id}`
  const uses = await tx.query.deleteFrom('file_uses').where('used_by', '=', used_by).returning('sha256').execute()
  for (const { sha256 } of uses) {
    await setTimer(tx, { clock, random }, { kind: sweepTimer, due_time: clock.now(), payload: { sha256 } })
  }
  return removeCopy(tx, database, known.id)
}

function newestMigration(): string {
  return readMigrations().at(-1)?.name ?? ''
}
