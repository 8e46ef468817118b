import type { Random } from '../../base/keys/random.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import { createNode, type Node } from '../../graph/nodes.ts'
import { inBatches } from '../../world-part/batches.ts'

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
  await endLinksOf(tx, [email])
  return id
}

/**
 * Ends the codes by which somebody with one of these addresses may sign in. To be called where an address came to a business: whoever
 * made the codes may have been let in because that business was not among those of the address.
 */
export async function endLinksOf(tx: Transaction, emails: readonly string[]): Promise<void> {
  for await (const batch of inBatches(emails)) {
    // Locked first: whoever makes such a code at the same moment comes before, or sees the business.
    const users = await tx.query
      .selectFrom('business_users')
      .select('id')
      .where('email', 'in', batch)
      .orderBy('id')
      .forUpdate()
      .execute()
    for await (const some of inBatches(users)) {
      const ids = some.map(({ id }) => id)
      await tx.query.deleteFrom('business_user_links').where('user_id', 'in', ids).execute()
    }
  }
}
