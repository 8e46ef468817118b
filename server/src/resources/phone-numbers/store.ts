import type { Db } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { PhoneNumbersTable } from '../../db/tables.ts'
import type { Node } from '../../graph/nodes.ts'
import type { Slice } from '../../graph/paging.ts'

const findById = defineStatement<{ id: string; account_id: string }>()((db, { id, account_id }) =>
  db.selectFrom('phone_numbers').selectAll().where('id', '=', id).where('account_id', '=', account_id),
)

const findByAccountNumberId = defineStatement<{ id: string; account_id: string }>()((db, { id, account_id }) =>
  db.selectFrom('phone_numbers').selectAll().where('account_number_id', '=', id).where('account_id', '=', account_id),
)

/** The number behind either of its two nodes. */
export async function findPhoneNumber(db: Db, node: Node): Promise<PhoneNumbersTable> {
  const statement = node.kind === 'account_number' ? findByAccountNumberId : findById
  const row = await db.first(statement, { id: node.id, account_id: node.account_id ?? '' })
  if (!row) throw new Error(`the phone number of node ${node.id} is missing`)
  return row
}

export async function listPhoneNumbers(
  db: Db,
  account: Node,
  { condition, order, limit }: Slice,
): Promise<PhoneNumbersTable[]> {
  return db.query
    .selectFrom('phone_numbers')
    .selectAll()
    .where('account_id', '=', account.id)
    .where(condition)
    .orderBy(order)
    .limit(limit)
    .execute()
}
