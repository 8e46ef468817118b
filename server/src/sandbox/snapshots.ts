import { sql } from 'kysely'
import { beginCopy, beginMoment, openCopy, removeCopy } from '../db/copy-store.ts'
import type { Db, Transaction } from '../db/database.ts'
import { readMigrations } from '../db/migrate.ts'
import { defineStatement } from '../db/statement.ts'
import { sweepTimer } from '../files/files.ts'
import { setTimer } from '../timers/set.ts'
import { type Recording, type ReplaceDeps, type Replacer, replaceStore, snapshotUser } from './replace-store.ts'

declare module '../db/tables.ts' {
  interface Tables {
    snapshots: SnapshotsTable
  }
}

export interface SnapshotsTable {
  name: string
  id: string
  created_time: number
  migration: string
  /** `saving` until all of it is there. */
  state: 'saving' | 'saved'
}

export type Snapshot = Readonly<Pick<SnapshotsTable, 'name' | 'created_time'>>

/** Saved by a version with another schema. */
export class SnapshotOutdated extends Error {}

const findSaved = defineStatement<object>()((db) =>
  db.selectFrom('snapshots').select(['name', 'created_time']).where('state', '=', 'saved').orderBy('name'),
)

export async function listSnapshots(db: Db): Promise<Snapshot[]> {
  return db.list(findSaved, {})
}

/** Saves the whole store under a name, instead of what was saved under it before. */
export async function saveSnapshot(deps: ReplaceDeps, name: string, record: Recording): Promise<Snapshot> {
  const { database, clock, random } = deps
  const id = random.trace()
  const used_by = `${snapshotUser}${id}`
  const created_time = clock.now()
  const { copy, removeOld } = await database.transaction(
    async (tx) => {
      await beginMoment(tx, database)
      const begun = await beginCopy(tx, database, id)
      const remove = await forget(tx, deps, name)
      // Its blobs stay while it is there.
      await sql`INSERT INTO file_uses (sha256, used_by) SELECT sha256, ${used_by} FROM files`.execute(tx.query)
      const row = { name, id, created_time, migration: newestMigration(), state: 'saving' as const }
      await tx.query.insertInto('snapshots').values(row).execute()
      record(tx)
      return { copy: begun, removeOld: remove }
    },
    { alone: true },
  )
  await copy.finish()
  await database.transaction(({ query }) =>
    query.updateTable('snapshots').set({ state: 'saved' }).where('id', '=', id).execute(),
  )
  await removeOld()
  return { name, created_time }
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
      // What listeners heard before is not theirs to hear again: they begin anew.
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
  const { database } = deps
  const removed = await database.transaction(async (tx) => {
    const known = await tx.query.selectFrom('snapshots').select('id').where('name', '=', name).executeTakeFirst()
    if (!known) return undefined
    const remove = await forget(tx, deps, name)
    record(tx)
    return remove
  })
  await removed?.()
  return removed !== undefined
}

/** Removes a snapshot with its uses of blobs, if there is one; returns what is left to do after the commit. */
async function forget(
  tx: Transaction,
  { database, clock, random }: ReplaceDeps,
  name: string,
): Promise<() => Promise<void>> {
  const known = await tx.query.deleteFrom('snapshots').where('name', '=', name).returning('id').executeTakeFirst()
  if (!known) return async () => undefined
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
