import { sql } from 'kysely'
import type { Clock } from '../base/time/clock.ts'
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

const selectClock = defineStatement<object>()((db) =>
  db.selectFrom('store_clock').select(['trusted_time', 'accepted_time']),
)

/** Undefined in a store that no process has compared clocks on. */
export async function readStoreClock(db: Db): Promise<Omit<StoreClockTable, 'id'> | undefined> {
  return db.first(selectClock, {})
}

const insertTrusted = defineStatement<{ trusted_time: number }>()((db, { trusted_time }) =>
  db
    .insertInto('store_clock')
    .values({ id, trusted_time, accepted_time: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id'),
)

/** Stores a time where there is none. */
export async function seedTrustedTime(database: Database, trusted_time: number): Promise<void> {
  await database.transaction(async (tx) => tx.run(insertTrusted, { trusted_time }))
}

const upsertTrusted = defineStatement<{ trusted_time: number }>()((db, { trusted_time }) =>
  db
    .insertInto('store_clock')
    .values({ id, trusted_time, accepted_time: null })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ trusted_time }))
    .returning('id'),
)

export async function writeTrustedTime(database: Database, trusted_time: number): Promise<void> {
  await database.transaction(async (tx) => tx.run(upsertTrusted, { trusted_time }))
}

const upsertAccepted = defineStatement<{ time: number }>()((db, { time }) =>
  db
    .insertInto('store_clock')
    .values({ id, trusted_time: time, accepted_time: time })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ trusted_time: time, accepted_time: time }))
    .returning('id'),
)

/** Accepts that it is as late, or as early, as the clock says. Returns the time up to which time passed as expected. */
export async function acceptTime(database: Database, time: number): Promise<number | undefined> {
  const stored = await readStoreClock(database.read)
  await database.transaction(async (tx) => tx.run(upsertAccepted, { time }))
  return stored?.trusted_time
}

const latestTimes = {
  activities: 'time',
  events: 'created_time',
  processes: 'heard_time',
  messages: 'created_time',
  delivery_attempts: 'time',
  timers: 'set_time',
} as const

/** 0 where none of these tables has a row. */
async function findLatest({ query }: Db, tables: readonly (keyof typeof latestTimes)[]): Promise<number> {
  let latest = 0
  for (const table of tables) {
    const column = sql.ref<number | null>(latestTimes[table])
    const row = await query.selectFrom(table).select(sql<number | null>`MAX(${column})`.as('time')).executeTakeFirst()
    latest = Math.max(latest, row?.time ?? 0)
  }
  return latest
}

/** The latest time that is known to have been written. */
export async function findNewestTime(db: Db): Promise<number> {
  return findLatest(db, ['activities', 'events'])
}

/**
 * The latest time at which the service is known to have run. In a quiet store nothing may have been written for days but the rows of
 * its processes, which are gone after a stop.
 */
export async function findLastSign(db: Db): Promise<number> {
  return findLatest(db, ['activities', 'events', 'processes', 'messages', 'delivery_attempts', 'timers'])
}
