import { hashToken } from '../../auth/tokens.ts'
import type { Db } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { Caller } from '../../graph/caller.ts'
import type { OperatorLimits } from '../../graph/context.ts'
import { inBatches } from '../../world-part/batches.ts'

const findOwner = defineStatement<{ token_id: string }>()((db, { token_id }) =>
  db
    .selectFrom('tokens')
    .innerJoin('apps', 'apps.id', 'tokens.app_id')
    .leftJoin('business_users', 'business_users.id', 'tokens.user_id')
    .select(['apps.id as app_id', 'apps.name as app_name'])
    .select(['business_users.id as user_id', 'business_users.name as user_name'])
    .where('tokens.id', '=', token_id),
)

/** Who a token is: the person to whom it belongs, or its app. */
export async function findOwnerOf(db: Db, { token_id }: Caller): Promise<{ id: string; name: string } | undefined> {
  const found = await db.first(findOwner, { token_id })
  if (!found) return undefined
  const { app_id, app_name, user_id, user_name } = found
  return user_id !== null && user_name !== null ? { id: user_id, name: user_name } : { id: app_id, name: app_name }
}

const findByHash = defineStatement<{ hash: string }>()((db, { hash }) =>
  db
    .selectFrom('tokens')
    .innerJoin('apps', 'apps.id', 'tokens.app_id')
    .select(['tokens.app_id', 'tokens.scopes', 'tokens.accounts', 'tokens.created_time', 'tokens.expires_time'])
    .select(['tokens.revoked_time', 'tokens.is_of_app', 'tokens.user_id'])
    .select(['apps.name', 'apps.business_id'])
    .where('tokens.hash', '=', hash),
)

export type InspectedToken = NonNullable<Awaited<ReturnType<typeof findInspected>>>

/** A token with its app, whoever has it and whether or not it is over. Sessions of the console are of no app, and not found. */
export async function findInspected(db: Db, secret: string) {
  return db.first(findByHash, { hash: hashToken(db, secret) })
}

/** The businesses whose accounts these are. */
export async function listOwners(db: Db, accounts: readonly string[]): Promise<string[]> {
  const owners = new Set<string>()
  for await (const batch of inBatches(accounts)) {
    const query = db.query.selectFrom('accounts').select('business_id').distinct().where('id', 'in', batch)
    for (const { business_id } of await query.execute()) owners.add(business_id)
  }
  return [...owners].sort()
}

/** Whether this caller may learn about a token: an app about its own, an operator about those of the businesses that it sees. */
export function mayInspect({ app_id, business_id }: InspectedToken, caller: Caller, limits?: OperatorLimits): boolean {
  if (!caller.scopes.has('operator')) return app_id === caller.app_id
  return !limits || limits.businesses?.has(business_id) === true
}
