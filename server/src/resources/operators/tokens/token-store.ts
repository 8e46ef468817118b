import { type RawBuilder, sql } from 'kysely'
import { isMade, isOfService } from '../../../auth/tokens.ts'
import type { Db } from '../../../db/database.ts'
import { type Caller, isScopeOfService } from '../../../graph/caller.ts'
import { limitsOf, type OperatorLimits } from '../../../graph/context.ts'
import type { PageRange } from '../../../graph/lists/paging.ts'
import { isSeen } from '../limits.ts'

export interface TokenFilter {
  readonly app_id?: string
  readonly state?: 'good' | 'expired' | 'revoked'
  readonly q?: string
}

const businessOfToken = sql<string | null>`(SELECT apps.business_id FROM apps WHERE apps.id = tokens.app_id)`

const nameOfUser = sql<string | null>`(SELECT u.name FROM business_users u WHERE u.id = tokens.user_id)`

/** Tokens of every tenant, never their secrets. For operators: bound by their limits alone. */
export async function listTokensOfTenantsForOperators(
  db: Db,
  caller: Caller,
  { app_id, state, q }: TokenFilter,
  now: number,
  range: PageRange,
) {
  let query = selectTokens(db)
    .where(isMade)
    .where(await isTokenSeen(db, caller, (limited) => range.within(limited)))
  if (app_id !== undefined) query = query.where('app_id', '=', app_id)
  if (state === 'revoked') query = query.where('revoked_time', 'is not', null)
  else if (state !== undefined) {
    query = query.where('revoked_time', 'is', null)
    if (state === 'expired') query = query.where('expires_time', '<=', now)
    else query = query.where(({ eb, or }) => or([eb('expires_time', 'is', null), eb('expires_time', '>', now)]))
  }
  if (q !== undefined) query = query.where(hasPart(q))
  return range.apply(query).execute()
}

/** Whether its name, its id, whose session it is, its app or its creator has this part, in whatever case. */
function hasPart(q: string): RawBuilder<boolean> {
  const pattern = `%${q.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  const columns = ['name', 'id', 'session_name', 'app_id', 'created_by'].map((column) => sql.ref(column))
  const conditions = columns.map((column) => sql<boolean>`LOWER(${column}) LIKE ${pattern} ESCAPE '\\'`)
  return sql`(${sql.join(conditions, sql` OR `)})`
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
    .leftJoin('token_notes', 'token_notes.token_id', 'tokens.id')
    .select(['id', 'app_id', 'scopes', 'accounts', 'businesses', 'created_time', 'expires_time', 'revoked_time'])
    .select(['session_name', 'made_by', 'is_of_app', 'name', 'created_by', 'last_used_time'])
    .select(['user_id', 'connection_id'])
    .select(nameOfUser.as('user_name'))
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
  readonly made_by: string | undefined
  /** The name of the session that calls, or the id of the token. */
  readonly created_by: string
  readonly session_grant: string | null
  readonly expires_time: number | null
}

/** Who makes a token, and the session by which that happens, at first or second hand. */
export async function findMaker(db: Db, { token_id }: Caller): Promise<Maker> {
  const row = await db.query
    .selectFrom('tokens')
    .select(['session_name', 'session_grant', 'made_by', 'expires_time'])
    .where('id', '=', token_id)
    .executeTakeFirst()
  const made_by = (row?.session_name ? token_id : row?.made_by) ?? undefined
  const session = made_by === undefined ? undefined : row
  return {
    made_by,
    created_by: row?.session_name ?? token_id,
    session_grant: session?.session_grant ?? null,
    expires_time: session?.expires_time ?? null,
  }
}
