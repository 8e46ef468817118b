import { type Kysely, sql } from 'kysely'
import type { Database, Db, Transaction } from '../db/database.ts'
import { lockFreeRowsOf } from '../db/row-locks.ts'
import { defineSql, defineStatement } from '../db/statement.ts'
import type { StreamEventsTable, Tables } from '../db/tables.ts'

/** An event of the users' stream, with the number that it is on. */
export type StoredStreamEvent = Omit<StreamEventsTable, 'position'> & {
  readonly position: number
  /** Null: the number is gone. */
  readonly account_id: string | null
  readonly business_id: string | null
  readonly phone_number: string | null
}

const withNumbers = (db: Kysely<Tables>) =>
  db
    .selectFrom('stream_events')
    .leftJoin('phone_numbers', 'phone_numbers.id', 'stream_events.phone_number_id')
    .leftJoin('accounts', 'accounts.id', 'phone_numbers.account_id')
    .selectAll('stream_events')
    .select(['phone_numbers.account_id', 'phone_numbers.phone_number', 'accounts.business_id'])
    .orderBy('position')

const selectAfter = defineStatement<{ after: number; upTo: number; limit: number }>()((db, { after, upTo, limit }) =>
  withNumbers(db).where('position', '>', after).where('position', '<=', upTo).limit(limit),
)

/** Events after a position, up to another one, in order. */
export function listStreamEvents(db: Db, after: number, upTo: number, limit: number): Promise<StoredStreamEvent[]> {
  return db.list(selectAfter, { after, upTo, limit })
}

/** The events at these positions, as far as there are any. */
export async function pickStreamEvents(db: Db, positions: readonly number[]): Promise<StoredStreamEvent[]> {
  return positions.length === 0 ? [] : withNumbers(db.query).where('position', 'in', positions).execute()
}

/** The newest position; 0 when there is none. */
export async function findLatest({ query }: Db): Promise<number> {
  const row = await query
    .selectFrom('stream_events')
    .select('position')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.position ?? 0
}

/** The newest position of before a time; otherwise that before the oldest. */
export async function findSettled({ query }: Db, time: number): Promise<number> {
  const positions = query.selectFrom('stream_events').select('position')
  const old = positions.where('created_time', '<=', time).orderBy('created_time', 'desc').orderBy('position', 'desc')
  const row = await old.limit(1).executeTakeFirst()
  if (row) return row.position
  const first = await positions.orderBy('position').limit(1).executeTakeFirst()
  return first ? first.position - 1 : 0
}

export async function findTimeOf({ query }: Db, position: number): Promise<number | undefined> {
  const row = await query
    .selectFrom('stream_events')
    .select('created_time')
    .where('position', '=', position)
    .executeTakeFirst()
  return row?.created_time
}

const upsertWanted = defineSql<{ name: string; until: number }>()(
  ({ name, until }) => sql`
    INSERT INTO wanted_streams (name, wanted_until) VALUES (${name}, ${until})
    ON CONFLICT (name) DO UPDATE SET wanted_until = excluded.wanted_until`,
)

/** Lets events of a stream be recorded until a time. */
export async function wantStream(database: Pick<Database, 'transaction'>, name: string, until: number): Promise<void> {
  await database.transaction(async (tx) => tx.run(upsertWanted, { name, until }))
}

const removedAtOnce = 500

const deleteOld = defineSql<{ before: number }>()(
  ({ before }) => sql<{ position: number }>`
    DELETE FROM stream_events WHERE position IN (
      SELECT e.position FROM stream_events e WHERE e.created_time <= ${before}
      ORDER BY e.created_time LIMIT ${sql.lit(removedAtOnce)} ${lockFreeRowsOf('e', 'ForUpdate')}
    ) RETURNING position`,
)

/** Removes some old events of the stream, and returns how many. */
export async function removeStreamEvents(tx: Transaction, before: number): Promise<number> {
  return (await tx.list(deleteOld, { before })).length
}
