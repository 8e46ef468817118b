import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { OperatorLimits } from '../../graph/context.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import type { Scan } from '../../graph/lists/scan.ts'
import { isSeen } from '../operators/public.ts'

export interface ConnectionFilter {
  readonly app_id?: string | undefined
  readonly business_id?: string | undefined
  readonly account_id?: string | undefined
  readonly state?: 'live' | 'ended' | undefined
}

/** A connection belongs to the business that made it. */
const owner = { account: sql.ref<string>('connections.account_id') }

/** The connections that an operator sees, with the names of what they connect and of who agreed. */
export function listConnectionsForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  { app_id, business_id, account_id, state }: ConnectionFilter,
  range: PageRange,
) {
  let query = db.query
    .selectFrom('connections')
    .selectAll()
    .select((from) => [
      from.selectFrom('apps').select('apps.name').whereRef('apps.id', '=', 'connections.app_id').as('app_name'),
      from
        .selectFrom('businesses')
        .select('businesses.name')
        .whereRef('businesses.id', '=', 'connections.business_id')
        .as('business_name'),
      from
        .selectFrom('accounts')
        .select('accounts.name')
        .whereRef('accounts.id', '=', 'connections.account_id')
        .as('account_name'),
      from
        .selectFrom('business_users')
        .select('business_users.name')
        .whereRef('business_users.id', '=', 'connections.user_id')
        .as('user_name'),
      from
        .selectFrom('business_users')
        .select('business_users.email')
        .whereRef('business_users.id', '=', 'connections.user_id')
        .as('user_email'),
    ])
    .where(isSeen(limits, owner))
  if (app_id !== undefined) query = query.where('app_id', '=', app_id)
  if (business_id !== undefined) query = query.where('business_id', '=', business_id)
  if (account_id !== undefined) query = query.where('account_id', '=', account_id)
  if (state !== undefined) query = query.where('ended_time', state === 'live' ? 'is' : 'is not', null)
  return range.apply(query).execute()
}

/** Connections of one state may be few of many. An account or a few businesses have few of either state. */
export function scanConnections(
  db: Db,
  limits: OperatorLimits | undefined,
  { app_id, business_id, account_id, state }: ConnectionFilter,
): Scan | undefined {
  if (limits || account_id !== undefined) return undefined
  if (business_id !== undefined) return { db, table: 'connections', by: sql`business_id = ${business_id}` }
  if (state === undefined) return undefined
  return { db, table: 'connections', by: app_id === undefined ? undefined : sql`app_id = ${app_id}` }
}

export type ListedConnection = Awaited<ReturnType<typeof listConnectionsForOperators>>[number]

export async function findConnectionForOperators(db: Db, limits: OperatorLimits | undefined, id: string) {
  return db.query
    .selectFrom('connections')
    .select(['id', 'account_id', 'business_id'])
    .where('id', '=', id)
    .where(isSeen(limits, owner))
    .executeTakeFirst()
}

/** For the note of an export on what it leaves out: a world file says who has access, and not by whose consent. */
export async function countConnectionsForOperators(db: Db): Promise<number> {
  const { count } = await db.query
    .selectFrom('connections')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('ended_time', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}
