import type { Db } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { Node } from '../../graph/nodes.ts'

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
