import { sql } from 'kysely'
import type { Clock } from '../base/clock.ts'
import type { Database, Db } from '../db/database.ts'
import { defineSql, defineStatement } from '../db/statement.ts'

declare module '../db/tables.ts' {
  interface Tables {
    store_clock: StoreClockTable
  }
}

/** Up to when time passed as expected. */
export interface StoreClockTable {
  id: string
  trusted_time: number
  accepted_time: number | null
}

const id = 'clock'

const selectTime = defineSql<object>()(
  () => sql<{ time: number }>`SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS time`,
)

/** What time it is for the database; an embedded one has no clock of its own. */
export async function readDatabaseTime(
  { isEmbedded, reserved }: Pick<Database, 'isEmbedded' | 'reserved'>,
  clock: Clock,
): Promise<number> {
  return isEmbedded ? clock.now() : ((await reserved.first(selectTime, {}))?.time ?? clock.now())
}

const selectTrusted = defineStatement<object>()((db) => db.selectFrom('store_clock').select('trusted_time'))

/** Undefined in a store that no process has compared clocks on. */
export async function readTrustedTime(db: Db): Promise<number | undefined> {
  return (await db.first(selectTrusted, {}))?.trusted_time
}

const upsertTrusted = defineStatement<{ trusted_time: number }>()((db, { trusted_time }) =>
  db
    .insertInto('store_clock')
    .values({ id, trusted_time, accepted_time: null })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ trusted_time }))
    .returning('id'),
)

export async function writeTrustedTime(database: Database, trusted_time: number): Promise<void> {
  await database.execute(upsertTrusted, { trusted_time })
}

const upsertAccepted = defineStatement<{ time: number }>()((db, { time }) =>
  db
    .insertInto('store_clock')
    .values({ id, trusted_time: time, accepted_time: time })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ trusted_time: time, accepted_time: time }))
    .returning('id'),
)

/** Accepts that it is as late as the clock says. Returns the time up to which time passed as expected. */
export async function acceptTime(database: Database, time: number): Promise<number | undefined> {
  const trusted = await readTrustedTime(database.read)
  await database.execute(upsertAccepted, { time })
  return trusted
}

/** The latest time that is known to have been written. */
export async function findNewestTime({ query }: Db): Promise<number> {
  const activity = await query
    .selectFrom('activities')
    .select(({ fn }) => fn.max('time').as('time'))
    .executeTakeFirst()
  const event = await query
    .selectFrom('events')
    .select(({ fn }) => fn.max('created_time').as('time'))
    .executeTakeFirst()
  return Math.max(activity?.time ?? 0, event?.time ?? 0)
}
