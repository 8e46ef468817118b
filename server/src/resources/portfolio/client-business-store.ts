import { type RawBuilder, sql } from 'kysely'
import { hasAccess, isGranted } from '../../auth/access.ts'
import type { Db } from '../../db/database.ts'
import type { Caller } from '../../graph/caller.ts'
import type { CursorKey } from '../../graph/lists/cursors.ts'
import type { PagePosition, PageRange } from '../../graph/lists/paging.ts'
import type { MergedScan } from '../../graph/lists/scan.ts'
import type { Node } from '../../graph/nodes.ts'

export type Grant = Pick<Caller, 'accounts'>

interface ClientBusiness {
  readonly id: string
  readonly name: string
  readonly created_time: number
}

/** One way in which a business gave an app access. */
interface Source {
  readonly table: RawBuilder<unknown>
  readonly business: RawBuilder<string>
  readonly time: RawBuilder<number>
  /** By what its index finds it in the order of time. */
  readonly by: RawBuilder<boolean>
  readonly fits: RawBuilder<boolean>
  /** Whether a business had given access in this way before a time, by an index of that business's rows. */
  isBefore(business_id: RawBuilder<string>, time: RawBuilder<number>): RawBuilder<boolean>
}

/**
 * A business is listed while the app's business has access to one of its accounts; the time is that of the first of what gave it. A page
 * reads what was given in a stretch of time, and leaves out whoever gave something before: however many clients an app has, one look
 * is at few of them.
 */
export async function listClientBusinesses(
  db: Db,
  app: Node,
  grant: Grant,
  range: PageRange,
): Promise<ClientBusiness[]> {
  const sources = sourcesOf(app, grant)
  const given = sources.map(
    ({ table, business, time, by, fits }) => sql`SELECT ${business} AS business_id, ${time} AS created_time
      FROM ${table} WHERE ${by} AND ${isWithin(time, range.position)} AND ${fits}`,
  )
  const first = sql<Omit<ClientBusiness, 'name'>>`(
    SELECT gifts.business_id AS id, MIN(gifts.created_time) AS created_time
    FROM (${sql.join(given, sql` UNION ALL `)}) AS gifts GROUP BY gifts.business_id)`
  let query = db.query.selectFrom(first.as('clients')).selectAll()
  for (const source of sources) {
    query = query.where(sql<boolean>`NOT ${source.isBefore(sql.ref('clients.id'), sql.ref('clients.created_time'))}`)
  }
  const page = await range.apply(query).execute()
  const names = await findNames(db, page)
  return page.map(({ id, created_time }) => ({ id, created_time, name: names.get(id) ?? '' }))
}

/** The nearest of the places up to which each source was looked at. What a token for some accounts sees is found by these. */
export function scanClientBusinesses(db: Db, app: Node, grant: Grant): MergedScan | undefined {
  if (grant.accounts) return undefined
  return {
    async findEdge(side, from, distance) {
      const edges: CursorKey[] = []
      const sources = sourcesOf(app, grant)
      const passed = Math.ceil(distance / sources.length)
      for (const { table, business, time, by } of sources) {
        const { rows } = await sql<{ time: number; id: string }>`
          SELECT ${time} AS time, ${business} AS id FROM ${table}
          WHERE ${by} AND ${isWithin(time, { side, from, to: undefined })} AND ${isBehind(time, business, side, from)}
          ORDER BY ${time} ${sql.raw(side === 'after' ? 'DESC' : 'ASC')} LIMIT 1 OFFSET ${sql.lit(passed - 1)}`.execute(
          db.query,
        )
        edges.push(...rows.map((row): CursorKey => [row.time, row.id]))
      }
      const [nearest] = edges.sort((one, other) => (isLater(one, other) === (side === 'after') ? -1 : 1))
      return nearest
    },
  }
}

function isLater([time, id]: CursorKey, [otherTime, otherId]: CursorKey): boolean {
  return time === otherTime ? id > otherId : time > otherTime
}

/** The times between which a stretch lies; the order of what has the same time is for the whole list alone. */
function isWithin(time: RawBuilder<number>, { side, from, to }: Pick<PagePosition, 'side' | 'from' | 'to'>) {
  const [low, high] = side === 'after' ? [to, from] : [from, to]
  // Always a bound: the embedded store prefers to sort what it may only walk in its order.
  const atLeast = sql<boolean>`${time} >= ${low?.[0] ?? 0}`
  return high ? sql<boolean>`${atLeast} AND ${time} <= ${high[0]}` : atLeast
}

function isBehind(
  time: RawBuilder<number>,
  business: RawBuilder<string>,
  side: PagePosition['side'],
  from: CursorKey | undefined,
): RawBuilder<boolean> {
  if (!from) return sql<boolean>`TRUE`
  const sign = sql.raw(side === 'after' ? '<' : '>')
  return sql<boolean>`(${time} ${sign} ${from[0]} OR ${business} ${sign} ${from[1]})`
}

function sourcesOf(app: Node, grant: Grant): Source[] {
  return [connectionsTo(app, grant), ...accessOf(app, grant), requestsBy(app, grant)]
}

function connectionsTo(app: Node, grant: Grant): Source {
  const account = sql.ref<string>('connections.account_id')
  const fits = sql<boolean>`connections.ended_time IS NULL AND ${hasAccess(sql<string>`${app.business_id}`, account)}
    AND ${isGranted(grant, account)}`
  return {
    table: sql`connections`,
    business: sql.ref('connections.business_id'),
    time: sql.ref('connections.created_time'),
    by: sql`connections.app_id = ${app.id}`,
    fits,
    isBefore: (business_id, time) => sql<boolean>`EXISTS (SELECT 1 FROM connections
      WHERE connections.business_id = ${business_id} AND connections.created_time < ${time}
        AND ${isUnindexed('connections.app_id', app.id)} AND ${fits})`,
  }
}

/** By the time of the access and, where that was not recorded, of the account: an order of its own for each. */
function accessOf(app: Node, grant: Grant): Source[] {
  const isOwn = sql<boolean>`access.business_id = ${app.business_id} AND access.relation <> 'owner'`
  const isGiven = isGranted(grant, sql.ref('access.account_id'))
  // Looked up for each row: a join is taken in another order, or with all accounts that there are.
  const ofAccount = <T>(column: string) =>
    sql<T>`(SELECT ${sql.ref(`own.${column}`)} FROM accounts own WHERE own.id = access.account_id)`
  const business = ofAccount<string>('business_id')
  const fits = sql<boolean>`${business} <> ${app.business_id} AND ${isGiven}`
  const common = { table: sql`account_access access`, business, fits }
  const isBefore: Source['isBefore'] = (business_id, before) => sql<boolean>`EXISTS (
    SELECT 1 FROM accounts CROSS JOIN account_access access
    WHERE accounts.business_id = ${business_id} AND access.account_id = accounts.id AND ${isOwn} AND ${isGiven}
      AND accounts.business_id <> ${app.business_id}
      AND CASE access.created_time WHEN 0 THEN accounts.created_time ELSE access.created_time END < ${before})`
  return [
    { ...common, time: sql.ref('access.created_time'), by: sql`${isOwn} AND access.created_time > 0`, isBefore },
    // The other one looks for both.
    {
      ...common,
      time: ofAccount<number>('created_time'),
      by: sql`${isOwn} AND access.created_time = 0`,
      isBefore: () => sql`FALSE`,
    },
  ]
}

function requestsBy(app: Node, grant: Grant): Source {
  const hasAccount = grant.accounts
    ? sql<boolean>`requests.end_business_id IN (SELECT accounts.business_id FROM accounts
        WHERE ${isGranted(grant, sql.ref('accounts.id'))}
          AND ${hasAccess(sql<string>`${app.business_id}`, sql.ref('accounts.id'))})`
    : sql<boolean>`EXISTS (SELECT 1 FROM accounts CROSS JOIN account_access access
        WHERE accounts.business_id = requests.end_business_id AND access.account_id = accounts.id
          AND access.business_id = ${app.business_id})`
  return {
    table: sql`agreement_requests requests`,
    business: sql.ref('requests.end_business_id'),
    time: sql.ref('requests.created_time'),
    by: grant.accounts
      ? isUnindexed('requests.partner_app_id', app.id)
      : sql<boolean>`requests.partner_app_id = ${app.id}`,
    fits: hasAccount,
    isBefore: (business_id, time) => sql<boolean>`EXISTS (SELECT 1 FROM agreement_requests requests
      WHERE requests.end_business_id = ${business_id} AND requests.created_time < ${time}
        AND ${isUnindexed('requests.partner_app_id', app.id)} AND ${hasAccount})`,
  }
}

/** A condition that no index serves, beside one that leaves few rows: without statistics the embedded store cannot know which does. */
function isUnindexed(column: string, value: string): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(column)} || '' = ${value}`
}

/** Of the businesses of one page, so that the list itself need not read those of all. */
async function findNames(db: Db, page: readonly { readonly id: string }[]): Promise<Map<string, string>> {
  if (page.length === 0) return new Map()
  const rows = await db.query
    .selectFrom('businesses')
    .select(['id', 'name'])
    .where(
      'id',
      'in',
      page.map(({ id }) => id),
    )
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
