import { type RawBuilder, sql } from 'kysely'
import { isOfService } from '../../../auth/tokens.ts'
import type { Db } from '../../../db/database.ts'
import { type Caller, isScopeOfService } from '../../../graph/caller.ts'
import { limitsOf, type OperatorLimits } from '../../../graph/context.ts'
import type { PageRange } from '../../../graph/lists/paging.ts'
import { isSeen } from '../limits.ts'

export interface TokenFilter {
  readonly app_id: string | undefined
  readonly state: 'good' | 'expired' | 'revoked' | undefined
}

const businessOfToken = sql<string | null>`(SELECT apps.business_id FROM apps WHERE apps.id = tokens.app_id)`

/** Tokens of every tenant, never their secrets. For operators: bound by their limits alone. */
export async function listTokensOfTenantsForOperators(
  db: Db,
  caller: Caller,
  { app_id, state }: TokenFilter,
  now: number,
  range: PageRange,
) {
  let query = selectTokens(db).where(await isTokenSeen(db, caller, (limited) => range.within(limited)))
  if (app_id !== undefined) query = query.where('app_id', '=', app_id)
  if (state === 'revoked') query = query.where('revoked_time', 'is not', null)
  else if (state !== undefined) {
    query = query.where('revoked_time', 'is', null)
    if (state === 'expired') query = query.where('expires_time', '<=', now)
    else query = query.where(({ eb, or }) => or([eb('expires_time', 'is', null), eb('expires_time', '>', now)]))
  }
  return range.apply(query).execute()
}

/** A token that this operator sees. */
export async function findTokenForOperators(db: Db, caller: Caller, id: string) {
  return selectTokens(db)
    .where('id', '=', id)
    .where(await isTokenSeen(db, caller, (limited) => limited.where('id', '=', id)))
    .executeTakeFirst()
}

/**
 * Whether this operator sees a token: its own, those of the tenants that it sees, and those of the service that see no more than it
 * does. `select` limits the last to the tokens of the question, because there may be many.
 */
async function isTokenSeen(
  db: Db,
  caller: Caller,
  select: (limited: LimitedTokens) => LimitedTokens,
): Promise<RawBuilder<boolean>> {
  const limits = limitsOf(caller)
  if (!limits) return sql<boolean>`TRUE`
  const limited = await select(selectLimited(db)).execute()
  const seesLess = limited.filter((token) => seesNoMore(token, caller))
  const ids = Object.fromEntries([caller.token_id, ...seesLess.map(({ id }) => id)].map((id) => [id, 1]))
  return sql<boolean>`((NOT ${isOfService} AND ${isSeen(limits, { business: businessOfToken })})
    OR tokens.id IN (SELECT key FROM json_each(${JSON.stringify(ids)})))`
}

type LimitedTokens = ReturnType<typeof selectLimited>

/** The tokens of the service that are limited to accounts or businesses. */
function selectLimited(db: Db) {
  return db.query
    .selectFrom('tokens')
    .select(['id', 'accounts', 'businesses', 'scopes', businessOfToken.as('business_id')])
    .where(isOfService)
    .where(({ eb, or }) => or([eb('accounts', 'is not', null), eb('businesses', 'is not', null)]))
}

interface LimitedToken {
  readonly accounts: readonly string[] | null
  readonly businesses: readonly string[] | null
  readonly scopes: readonly string[]
  readonly business_id: string | null
}

function seesNoMore({ accounts, businesses, scopes, business_id }: LimitedToken, caller: Caller): boolean {
  const isOwn = (id: string) => caller.businesses?.has(id) === true
  return (
    (accounts ?? []).every((id) => caller.gateway_accounts?.has(id)) &&
    (businesses ?? []).every(isOwn) &&
    // With another scope it acts for the business of its app, too.
    (scopes.every(isScopeOfService) || (business_id !== null && isOwn(business_id)))
  )
}

function selectTokens(db: Db) {
  return db.query
    .selectFrom('tokens')
    .select(['id', 'app_id', 'scopes', 'accounts', 'businesses', 'created_time', 'expires_time', 'revoked_time'])
    .select(['session_name', 'made_by'])
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

export interface Maker {
  readonly made_by: string
  readonly session_grant: string | null
  readonly expires_time: number | null
}

/** The session by which a token of this caller is made, at first or second hand. */
export async function findMaker(db: Db, { token_id }: Caller): Promise<Maker | undefined> {
  const row = await db.query
    .selectFrom('tokens')
    .select(['session_name', 'session_grant', 'made_by', 'expires_time'])
    .where('id', '=', token_id)
    .executeTakeFirst()
  const made_by = row?.session_name ? token_id : row?.made_by
  return row && made_by ? { made_by, session_grant: row.session_grant, expires_time: row.expires_time } : undefined
}
