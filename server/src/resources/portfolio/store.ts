import type { Random } from '../../base/keys/random.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import { createNode, type Node } from '../../graph/nodes.ts'

const findBusinessById = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('businesses').select(['id', 'name', 'timezone_id']).where('id', '=', id),
)

const findIntentById = defineStatement<{ id: string; account_id: string }>()((db, { id, account_id }) =>
  db.selectFrom('migration_intents').select(['id', 'status']).where('id', '=', id).where('account_id', '=', account_id),
)

export async function findBusiness(db: Db, node: Node) {
  const business = await db.first(findBusinessById, { id: node.id })
  if (!business) throw new Error(`the business of node ${node.id} is missing`)
  return business
}

export async function listExtendedCredits(db: Db, business: Node) {
  return db.query
    .selectFrom('extended_credits')
    .select(['id', 'legal_entity_name'])
    .where('business_id', '=', business.id)
    .orderBy('id')
    .execute()
}

export async function findMigrationIntent(db: Db, node: Node) {
  const intent = await db.first(findIntentById, { id: node.id, account_id: node.account_id ?? '' })
  if (!intent) throw new Error(`the migration intent of node ${node.id} is missing`)
  return intent
}

/** Creates a business, and returns its id. */
export async function createBusiness(tx: Transaction, random: Random, now: number, name: string): Promise<string> {
  const id = await createNode(tx, random, 'business', (business_id) => ({ business_id, account_id: null }))
  await tx.query.insertInto('businesses').values({ id, name, timezone_id: 1, created_time: now }).execute()
  return id
}

/** Creates a person of a business, and returns the id. The address is in lower case, as in a world file's. */
export async function createBusinessUser(
  tx: Transaction,
  random: Random,
  now: number,
  { business_id, name, email }: { readonly business_id: string; readonly name: string; readonly email: string },
): Promise<string> {
  const id = await createNode(tx, random, 'business_user', { business_id, account_id: null })
  await tx.query.insertInto('business_users').values({ id, business_id, name, email, created_time: now }).execute()
  return id
}
