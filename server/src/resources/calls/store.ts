import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { CallPermissionsTable, CallsTable, PhoneNumbersTable } from '../../db/tables.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import type { Node } from '../../graph/nodes.ts'

/** The number and user of a call or a permission. */
export interface Pair {
  readonly phone_number_id: string
  readonly user_wa_id: string
}

const findPair = defineStatement<Pair>()((db, { phone_number_id, user_wa_id }) =>
  db
    .selectFrom('call_permissions')
    .selectAll()
    .where('phone_number_id', '=', phone_number_id)
    .where('user_wa_id', '=', user_wa_id),
)

export function findPermission(db: Db, pair: Pair): Promise<CallPermissionsTable | undefined> {
  return db.first(findPair, pair)
}

/**
 * The permission, locked until the transaction ends: calls between the same two start one after another, so that two cannot both be
 * the last one allowed.
 */
export async function lockPermission(
  tx: Transaction,
  { phone_number_id, user_wa_id }: Pair,
): Promise<CallPermissionsTable | undefined> {
  return tx.query
    .selectFrom('call_permissions')
    .selectAll()
    .where('phone_number_id', '=', phone_number_id)
    .where('user_wa_id', '=', user_wa_id)
    .forUpdate()
    .executeTakeFirst()
}

/** The same when there may be none yet: a user who was never asked has denied. */
export async function takePermission(tx: Transaction, pair: Pair): Promise<CallPermissionsTable | undefined> {
  const { phone_number_id, user_wa_id } = pair
  await tx.query
    .insertInto('call_permissions')
    .values({ phone_number_id, user_wa_id, status: 'denied', expiration_time: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return lockPermission(tx, pair)
}

export async function updatePermission(
  tx: Transaction,
  { phone_number_id, user_wa_id, status, expiration_time }: CallPermissionsTable,
): Promise<void> {
  await tx.query
    .updateTable('call_permissions')
    .set({ status, expiration_time })
    .where('phone_number_id', '=', phone_number_id)
    .where('user_wa_id', '=', user_wa_id)
    .execute()
}

/** Records that the user was asked, and removes what no longer counts. */
export async function addPermissionRequest(
  tx: Transaction,
  { phone_number_id, user_wa_id }: Pair,
  request: { id: string; sent_time: number; countsSince: number },
): Promise<void> {
  await tx.query
    .deleteFrom('call_permission_requests')
    .where('phone_number_id', '=', phone_number_id)
    .where('user_wa_id', '=', user_wa_id)
    .where('sent_time', '<=', request.countsSince)
    .execute()
  await tx.query
    .insertInto('call_permission_requests')
    .values({ id: request.id, phone_number_id, user_wa_id, sent_time: request.sent_time })
    .execute()
}

const countRequests = defineStatement<Pair & { since: number }>()((db, { phone_number_id, user_wa_id, since }) =>
  db
    .selectFrom('call_permission_requests')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('sent_time').as('oldest')])
    .where('phone_number_id', '=', phone_number_id)
    .where('user_wa_id', '=', user_wa_id)
    .where('sent_time', '>', since),
)

const countCalls = defineStatement<Pair & { since: number }>()((db, { phone_number_id, user_wa_id, since }) =>
  db
    .selectFrom('calls')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('created_time').as('oldest')])
    .where('phone_number_id', '=', phone_number_id)
    .where('user_wa_id', '=', user_wa_id)
    .where('direction', '=', 'BUSINESS_INITIATED')
    .where('created_time', '>', since),
)

export interface UsageSince {
  readonly count: number
  readonly oldest: number | undefined
}

/** How often the user was asked since a time. */
export async function countPermissionRequests(db: Db, pair: Pair, since: number): Promise<UsageSince> {
  return toUsage(await db.list(countRequests, { ...pair, since }))
}

/** How many calls the number started to the user since a time. */
export async function countStartedCalls(db: Db, pair: Pair, since: number): Promise<UsageSince> {
  return toUsage(await db.list(countCalls, { ...pair, since }))
}

/** Read as a list, because rows looked up by time are not worth caching. */
function toUsage([row]: readonly { count: number; oldest: number | null }[]): UsageSince {
  return { count: row?.count ?? 0, oldest: row?.oldest ?? undefined }
}

/** False when a call between the two is already open. */
export async function insertCall(tx: Transaction, call: CallsTable): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.query
    .insertInto('calls')
    .values(call)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** A call of a number by its id. */
export async function findCall(db: Db, node: Node, id: string): Promise<CallsTable | undefined> {
  return db.query
    .selectFrom('calls')
    .selectAll()
    .where('id', '=', id)
    .where('phone_number_id', '=', node.id)
    .executeTakeFirst()
}

/** The open call between a number and a user; there is at most one. */
export async function findOpenCall(db: Db, node: Node, user_wa_id: string): Promise<CallsTable | undefined> {
  return db.query
    .selectFrom('calls')
    .selectAll()
    .where('phone_number_id', '=', node.id)
    .where('user_wa_id', '=', user_wa_id)
    .where('state', '<>', 'ended')
    .executeTakeFirst()
}

export async function findCallForGateway(db: Db, id: string): Promise<CallsTable | undefined> {
  return db.query.selectFrom('calls').selectAll().where('id', '=', id).executeTakeFirst()
}

export interface CallFilter {
  readonly user_wa_id?: string
  readonly phone_number_id?: string
  readonly since: number | undefined
  readonly until: number | undefined
}

export async function listCallsForGateway(
  db: Db,
  accounts: ReadonlySet<string> | undefined,
  { user_wa_id, phone_number_id, since, until }: CallFilter,
  range: PageRange,
): Promise<CallsTable[]> {
  let query = db.query.selectFrom('calls').selectAll()
  if (user_wa_id !== undefined) query = query.where('user_wa_id', '=', user_wa_id)
  if (phone_number_id !== undefined) query = query.where('phone_number_id', '=', phone_number_id)
  if (since !== undefined) query = query.where('created_time', '>=', since)
  if (until !== undefined) query = query.where('created_time', '<', until)
  if (accounts) {
    query = query.where('phone_number_id', 'in', (eb) =>
      eb
        .selectFrom('phone_numbers')
        .select('id')
        .where('account_id', 'in', [...accounts, '']),
    )
  }
  return range.apply(query).execute()
}

export async function findNumberForGateway(db: Db, id: string): Promise<PhoneNumbersTable | undefined> {
  return db.query.selectFrom('phone_numbers').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The current state of a known call, locked until the transaction ends: the actions of both sides come one after another. */
export async function lockCall(tx: Transaction, { id }: Pick<CallsTable, 'id'>): Promise<CallsTable> {
  return tx.query.selectFrom('calls').selectAll().where('id', '=', id).forUpdate().executeTakeFirstOrThrow()
}

export async function updateCall(tx: Transaction, id: string, changes: Partial<CallsTable>): Promise<void> {
  await tx.query.updateTable('calls').set(changes).where('id', '=', id).execute()
}
