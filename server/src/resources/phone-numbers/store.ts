import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { PhoneNumbersTable } from '../../db/tables.ts'
import { isUniqueViolation } from '../../db/unique.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import type { Node } from '../../graph/nodes.ts'
import { lockAccount } from '../account/store.ts'

const findById = defineStatement<{ id: string; account_id: string }>()((db, { id, account_id }) =>
  db.selectFrom('phone_numbers').selectAll().where('id', '=', id).where('account_id', '=', account_id),
)

const findByAccountNumberId = defineStatement<{ id: string; account_id: string }>()((db, { id, account_id }) =>
  db.selectFrom('phone_numbers').selectAll().where('account_number_id', '=', id).where('account_id', '=', account_id),
)

/** The number of either of its two nodes. */
export async function findPhoneNumber(db: Db, node: Node): Promise<PhoneNumbersTable> {
  const statement = node.kind === 'account_number' ? findByAccountNumberId : findById
  const row = await db.first(statement, { id: node.id, account_id: node.account_id ?? '' })
  if (!row) throw new Error(`the phone number of node ${node.id} is missing`)
  return row
}

export async function listPhoneNumbers(db: Db, account: Node, range: PageRange): Promise<PhoneNumbersTable[]> {
  return range.apply(db.query.selectFrom('phone_numbers').selectAll().where('account_id', '=', account.id)).execute()
}

/** The number, locked until the transaction ends: every change reads it with this, so that changes come one after another. */
export async function lockPhoneNumber(tx: Transaction, node: Node): Promise<PhoneNumbersTable> {
  return tx.query
    .selectFrom('phone_numbers')
    .selectAll()
    .where('id', '=', node.id)
    .where('account_id', '=', node.account_id ?? '')
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}

export async function updatePhoneNumber(
  tx: Transaction,
  node: Node,
  changes: Partial<PhoneNumbersTable>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return
  await tx.query
    .updateTable('phone_numbers')
    .set(changes)
    .where('id', '=', node.id)
    .where('account_id', '=', node.account_id ?? '')
    .execute()
}

/** Gives a number its username; false when another number of the platform has it. */
export async function takeUsername(tx: Transaction, node: Node, username: string): Promise<boolean> {
  const holder = await tx.query
    .selectFrom('phone_numbers')
    .select('id')
    .where('username', '=', username)
    .executeTakeFirst()
  if (holder) return holder.id === node.id
  try {
    await updatePhoneNumber(tx, node, { username })
    return true
  } catch (error) {
    // Another transaction took it after the check above. PostgreSQL can now only roll back, which a refusal does.
    if (isUniqueViolation(error)) return false
    throw error
  }
}

/** The numbers of an account; no more can be created before the transaction ends. */
export async function countPhoneNumbers(tx: Transaction, account: Node): Promise<number> {
  lockAccount(tx, account)
  const { count } = await tx.query
    .selectFrom('phone_numbers')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', account.id)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** False when the platform already has the number. */
export async function insertPhoneNumber(tx: Transaction, number: PhoneNumbersTable): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.query
    .insertInto('phone_numbers')
    .values(number)
    .onConflict((conflict) => conflict.column('phone_number').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** The account of a number, by its digits. The network's edge has a number and no tenant. */
export async function findAccountOfNumberForGateway(db: Db, phone_number: string): Promise<string | undefined> {
  const row = await db.query
    .selectFrom('phone_numbers')
    .select('account_id')
    .where('phone_number', '=', phone_number)
    .executeTakeFirst()
  return row?.account_id
}
