import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { Caller } from '../../graph/caller.ts'
import type { OperatorLimits } from '../../graph/context.ts'
import type { PageRange } from '../../graph/paging.ts'
import { isSeen } from './limits.ts'

export interface TokenFilter {
  readonly app_id: string | undefined
  readonly state: 'good' | 'expired' | 'revoked' | undefined
}

/** A token belongs to an app, and so to a business. */
const businessOfToken = sql<string | null>`(SELECT apps.business_id FROM apps WHERE apps.id = tokens.app_id)`
const owner = { business: businessOfToken }

/** Tokens of every tenant, never their secrets. For operators: bound by their limits alone. */
export async function listTokensOfTenantsForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  { app_id, state }: TokenFilter,
  now: number,
  range: PageRange,
) {
  let query = selectTokens(db).where(isSeen(limits, owner))
  if (app_id !== undefined) query = query.where('app_id', '=', app_id)
  if (state === 'revoked') query = query.where('revoked_time', 'is not', null)
  else if (state !== undefined) {
    query = query.where('revoked_time', 'is', null)
    if (state === 'expired') query = query.where('expires_time', '<=', now)
    else query = query.where(({ eb, or }) => or([eb('expires_time', 'is', null), eb('expires_time', '>', now)]))
  }
  return range.apply(query).execute()
}

/** A token that this operator sees; the own one can be named whatever the limits are. */
export async function findTokenForOperators(db: Db, limits: OperatorLimits | undefined, caller: Caller, id: string) {
  const token = selectTokens(db).where('id', '=', id)
  return (id === caller.token_id ? token : token.where(isSeen(limits, owner))).executeTakeFirst()
}

function selectTokens(db: Db) {
  return db.query
    .selectFrom('tokens')
    .select(['id', 'app_id', 'scopes', 'accounts', 'businesses', 'created_time', 'expires_time', 'revoked_time'])
    .select('session_name')
    .select(businessOfToken.as('business_id'))
}

/** Which of these nodes the operator sees, with their kinds. */
export async function listSeenForOperators(db: Db, limits: OperatorLimits | undefined, ids: readonly string[]) {
  if (ids.length === 0) return []
  return db.query
    .selectFrom('nodes')
    .select(['id', 'kind', 'business_id'])
    .where('id', 'in', [...new Set(ids)])
    .where(isSeen(limits, { account: sql.ref('nodes.account_id'), business: sql.ref('nodes.business_id') }))
    .execute()
}
