import type { Insertable, Selectable } from 'kysely'
import type { Db, Transaction } from '../../db/database.ts'
import type { ActivitiesTable } from '../../db/tables.ts'
import type { Node } from '../../graph/nodes.ts'
import type { Slice } from '../../graph/paging.ts'

export type NewActivity = Insertable<ActivitiesTable>
export type Activity = Selectable<ActivitiesTable>

/** Written in the transaction of what it tells of. */
export async function appendActivity(tx: Transaction, activity: NewActivity): Promise<void> {
  await tx.query.insertInto('activities').values(activity).execute()
}

export async function listActivities(db: Db, account: Node, { condition, order, limit }: Slice): Promise<Activity[]> {
  return db.query
    .selectFrom('activities')
    .selectAll()
    .where('account_id', '=', account.id)
    .where(condition)
    .orderBy(order)
    .limit(limit)
    .execute()
}

/** The newest records of every tenant, or of one account. For operators: not bound to a tenant. */
export async function listActivitiesForOperators(
  db: Db,
  account: string | undefined,
  limit: number,
): Promise<Activity[]> {
  let query = db.query.selectFrom('activities').selectAll().orderBy('time', 'desc').orderBy('id', 'desc').limit(limit)
  if (account !== undefined) query = query.where('account_id', '=', account)
  return query.execute()
}
