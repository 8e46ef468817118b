import { type RawBuilder, sql } from 'kysely'
import type { Random } from '../../base/keys/random.ts'
import type { Db, Transaction } from '../../db/database.ts'
import type { SchedulesTable } from '../../db/tables.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import { createNode, type Node } from '../../graph/nodes.ts'

const shownColumns = [
  'id',
  'name',
  'schedule_type',
  'description',
  'start_time',
  'end_time',
  'timezone',
  'days_of_week',
  'is_active',
  'recurrence_pattern',
  'created_time',
  'updated_time',
] as const

/** Nothing runs when a schedule's last day is over, so its state is derived from the time, for items and filters alike. */
export function statusAt(now: number): RawBuilder<string> {
  return sql<string>`CASE WHEN status = 'ACTIVE' AND expires_time <= ${now} THEN 'EXPIRED' ELSE status END`
}

export async function listSchedules(db: Db, account: Node, now: number, range: PageRange) {
  return range
    .apply(
      db.query
        .selectFrom('schedules')
        .select(shownColumns)
        .select(statusAt(now).as('status'))
        .where('account_id', '=', account.id),
    )
    .execute()
}

/** The id of the new schedule; undefined when the account has one of that name, even one made at the same moment. */
export async function insertSchedule(
  tx: Transaction,
  random: Random,
  account: Node,
  schedule: Omit<SchedulesTable, 'id' | 'account_id'>,
): Promise<string | undefined> {
  const owner = { business_id: account.business_id, account_id: account.id }
  const id = await createNode(tx, random, 'schedule', owner)
  const { numInsertedOrUpdatedRows } = await tx.query
    .insertInto('schedules')
    .values({ id, account_id: account.id, ...schedule })
    .onConflict((conflict) => conflict.columns(['account_id', 'name']).doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n ? id : undefined
}
