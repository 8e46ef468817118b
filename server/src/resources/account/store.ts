import type { Random } from '../../base/keys/random.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import { createNode, type Node } from '../../graph/nodes.ts'
import { accountDefaults, makeTemplateNamespace } from './rules.ts'
import type { AccountUpdate } from './schemas.ts'

const findById = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('accounts').selectAll().where('id', '=', id),
)

/** The account of a node that the caller may see. */
export async function findAccount(db: Db, node: Node) {
  const account = await db.first(findById, { id: node.account_id ?? '' })
  if (!account) throw new Error(`the account of node ${node.id} is missing`)
  return account
}

export async function updateAccount(tx: Transaction, node: Node, changes: AccountUpdate): Promise<void> {
  if (Object.keys(changes).length === 0) return
  await tx.query.updateTable('accounts').set(changes).where('id', '=', node.id).execute()
}

const lockById = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('accounts').select('id').where('id', '=', id).forNoKeyUpdate(),
)

/** Locks an account until the transaction ends: for rules that count its objects. */
export function lockAccount(tx: Transaction, node: Node): void {
  tx.lock(lockById, { id: node.account_id ?? '' })
}

/** Creates an account of a business, which sees it from then on, and returns its id. */
export async function createAccount(
  tx: Transaction,
  random: Random,
  now: number,
  { business_id, name }: { readonly business_id: string; readonly name: string },
): Promise<string> {
  const id = await createNode(tx, random, 'account', (account_id) => ({ business_id, account_id }))
  const message_template_namespace = makeTemplateNamespace(random)
  await tx.query
    .insertInto('accounts')
    .values({ ...accountDefaults, id, business_id, name, message_template_namespace, created_time: now })
    .execute()
  const access = { account_id: id, business_id, relation: 'owner' as const, created_time: now }
  await tx.query.insertInto('account_access').values(access).execute()
  return id
}
