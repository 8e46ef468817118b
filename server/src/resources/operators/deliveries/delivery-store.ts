import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../db/database.ts'
import { emptiedValue } from '../../../db/emptied-value.ts'
import { isAmongWaiting } from '../../../db/waiting.ts'
import type { PostedDelivery } from '../../../delivery/post/compose-post.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import type { PageRange } from '../../../graph/lists/paging.ts'
import { lookedAtFirst } from '../../../graph/lists/scan.ts'
import { shownValueOf } from '../../../stream/read.ts'
import { isSeen } from '../limits.ts'

/** `failing`: waiting, after a try in vain. */
export const deliveryStates = ['waiting', 'failing', 'delivered', 'failed', 'withdrawn'] as const
type ListedState = (typeof deliveryStates)[number]

export interface DeliveryFilter {
  readonly state?: ListedState | undefined
  readonly app_id?: string | undefined
  readonly account_id?: string | undefined
  readonly phone_number_id?: string | undefined
  readonly field?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
}

/** The filters of the list alone: jobs of replays are also done by processes of the version before, which would skip what they do not know. */
export interface ListedFilter extends DeliveryFilter {
  readonly user_wa_id?: string | undefined
  readonly trace?: string | undefined
}

const owner = { account: sql.ref<string>('deliveries.account_id') }

/** Deliveries of every tenant. For operators: bound by their limits alone. */
export async function listDeliveryPageForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  { user_wa_id, ...filter }: ListedFilter,
  range: PageRange,
) {
  let query = selectDeliveries(db).where(await matches(db, limits, filter))
  if (user_wa_id !== undefined) query = query.where(isOfUser(user_wa_id))
  return range.apply(query).execute()
}

/** Messages and their statuses are ordered by number and user, calls by the call. */
function isOfUser(user_wa_id: string): RawBuilder<boolean> {
  return sql`(deliveries.conversation LIKE ${`%/${user_wa_id}`} OR deliveries.field = 'calls' AND EXISTS (
    SELECT 1 FROM calls c WHERE c.id = SUBSTR(deliveries.conversation, 6) AND c.user_wa_id = ${user_wa_id}))`
}

export interface Walked {
  /** Those that fit, oldest first. */
  readonly ids: readonly number[]
  /** Where the next look begins; undefined: there is no more. */
  readonly reached: number | undefined
}

/** The next deliveries behind `after` and up to `last` that fit, oldest first: at most `limit`, and of so many that are looked at. */
export async function walkDeliveriesForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  filter: DeliveryFilter,
  { after, last, limit }: { after: number; last: number; limit: number },
): Promise<Walked> {
  const walked = sql`SELECT id, event_id, app_id, account_id, field, state, attempts, earlier_attempts, created_time
    FROM deliveries WHERE ${await indexedBy(db, limits, filter)} AND id > ${after} AND id <= ${last} ORDER BY id`
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM (${walked} LIMIT ${sql.lit(lookedAtFirst)}) AS deliveries
    WHERE ${await matches(db, limits, filter)} ORDER BY id LIMIT ${sql.lit(limit)}`.execute(db.query)
  const ids = rows.map(({ id }) => id)
  if (ids.length === limit) return { ids, reached: ids.at(-1) }
  const edge = await sql<{ id: number }>`
    SELECT id FROM (${walked} LIMIT 1 OFFSET ${sql.lit(lookedAtFirst - 1)}) AS edge`.execute(db.query)
  return { ids, reached: edge.rows[0]?.id }
}

/** The one condition by whose index deliveries are walked in the order of their ids. */
export async function indexedBy(
  db: Db,
  limits: OperatorLimits | undefined,
  { state, app_id, account_id, phone_number_id, trace }: ListedFilter,
): Promise<RawBuilder<boolean>> {
  if (trace !== undefined) return isOfTrace(db, trace)
  if (state === 'failed') return sql`state = 'failed'`
  const account = account_id ?? (phone_number_id && (await findAccountOfNumber(db, phone_number_id)))
  if (account !== undefined) return sql`account_id = ${account}`
  if (app_id !== undefined) return sql`app_id = ${app_id}`
  const only = limits && (await findOnlyAccount(db, limits))
  return only === undefined ? sql`TRUE` : sql`account_id = ${only}`
}

/** By the ids of its events, because a database may prefer to walk through all deliveries to a look-up of the events. */
async function isOfTrace(db: Db, trace: string): Promise<RawBuilder<boolean>> {
  const events = await db.query.selectFrom('events').select('id').where('trace', '=', trace).limit(1000).execute()
  return sql`event_id IN (${sql.join(events.length === 0 ? [0] : events.map(({ id }) => id))})`
}

/** The account of an operator that sees one only. */
async function findOnlyAccount(db: Db, limits: OperatorLimits): Promise<string | undefined> {
  const seen = await db.query
    .selectFrom('accounts')
    .select('id')
    .where(isSeen(limits, { account: sql.ref('accounts.id'), business: sql.ref('accounts.business_id') }))
    .limit(2)
    .execute()
  return seen.length === 1 ? seen[0]?.id : undefined
}

export async function findAccountOfNumber(db: Db, id: string): Promise<string | undefined> {
  const number = await db.query.selectFrom('phone_numbers').select('account_id').where('id', '=', id).executeTakeFirst()
  return number?.account_id
}

export async function findLastDeliveryForOperators(db: Db): Promise<number> {
  const row = await db.query.selectFrom('deliveries').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return row?.id ?? 0
}

/** Which of these deliveries the operator sees. */
export async function listSeenDeliveriesForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  ids: readonly number[],
): Promise<Set<number>> {
  const rows = await db.query
    .selectFrom('deliveries')
    .select('id')
    .where('id', 'in', [...ids])
    .where(isSeen(limits, owner))
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** One delivery with every try at it; undefined when this operator sees none of that id. */
export async function findDeliveryInFullForOperators(db: Db, limits: OperatorLimits | undefined, id: number) {
  const delivery = await selectDeliveries(db)
    .select(['started_time', 'finished_time'])
    .where('id', '=', id)
    .where(isSeen(limits, owner))
    .executeTakeFirst()
  if (!delivery) return undefined
  const attempts = await db.query
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('delivery_id', '=', id)
    .orderBy('number')
    .execute()
  return { delivery, attempts }
}

/** The contents of posts: these deliveries with the values of their events, by id; without those whose content was removed. */
export async function readPostedForOperators(db: Db, ids: readonly number[]): Promise<Map<number, PostedDelivery>> {
  const rows = await db.query
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .select(['deliveries.id', 'deliveries.account_id', 'deliveries.field'])
    .select(['deliveries.started_time', 'deliveries.created_time', 'events.value', 'events.trace', 'events.span'])
    .where('deliveries.id', 'in', [...ids])
    .where('events.value', '<>', emptiedValue)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

function selectDeliveries(db: Db) {
  return db.query
    .selectFrom('deliveries')
    .select(['id', 'event_id', 'app_id', 'account_id', 'field', 'conversation', 'lane_id'])
    .select(['state', 'attempts', 'earlier_attempts', 'created_time', 'due_time'])
    .select([
      sql<string>`(SELECT lanes.callback_url FROM lanes WHERE lanes.id = deliveries.lane_id)`.as('callback_url'),
      ofEvent<string | null>(sql`e.phone_number_id`).as('phone_number_id'),
      ofEvent<string | null>(sql`e.trace`).as('trace'),
      ofEvent<string | null>(shownValueOf(sql.ref('e.value'))).as('value'),
    ])
}

function ofEvent<T>(expression: RawBuilder<unknown>): RawBuilder<T> {
  return sql<T>`(SELECT ${expression} FROM events e WHERE e.id = deliveries.event_id)`
}

async function matches(
  db: Db,
  limits: OperatorLimits | undefined,
  filter: DeliveryFilter,
): Promise<RawBuilder<boolean>> {
  const { state, app_id, account_id, phone_number_id, field, since, until } = filter
  const conditions: RawBuilder<boolean>[] = [isSeen(limits, owner)]
  // As the index of that state has it.
  if (state === 'failing') conditions.push(sql`${isAmongWaiting()} AND attempts > earlier_attempts`)
  else if (state === 'waiting') conditions.push(isAmongWaiting())
  else if (state !== undefined) conditions.push(sql`deliveries.state = ${sql.lit(state)}`)
  if (app_id !== undefined) conditions.push(sql`deliveries.app_id = ${app_id}`)
  if (account_id !== undefined) conditions.push(sql`deliveries.account_id = ${account_id}`)
  if (field !== undefined) conditions.push(sql`deliveries.field = ${field}`)
  if (since !== undefined) conditions.push(sql`deliveries.created_time >= ${since}`)
  if (until !== undefined) conditions.push(sql`deliveries.created_time < ${until}`)
  if (phone_number_id !== undefined) conditions.push(await isOfNumber(db, phone_number_id))
  return sql`${sql.join(conditions, sql` AND `)}`
}

/** Only its account's deliveries are searched, by their index, while the number is there. */
async function isOfNumber(db: Db, id: string): Promise<RawBuilder<boolean>> {
  const account_id = await findAccountOfNumber(db, id)
  const isOf = sql<boolean>`EXISTS (
    SELECT 1 FROM events e WHERE e.id = deliveries.event_id AND e.phone_number_id = ${id})`
  return account_id === undefined ? isOf : sql`deliveries.account_id = ${account_id} AND ${isOf}`
}
