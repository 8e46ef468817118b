import { sql } from 'kysely'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { OnbehalfRequestsTable } from '../../db/tables.ts'
import type { Caller } from '../../graph/caller.ts'
import type { OperatorLimits } from '../../graph/context.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import type { Node } from '../../graph/nodes.ts'
import { isSeen } from '../operators/public.ts'
import { type OnbehalfStatus, waitingStatuses } from './schemas.ts'

/** A request with the names of both sides. */
export interface StoredRequest extends OnbehalfRequestsTable {
  readonly receiving_name: string
  readonly requesting_name: string
}

function selectRequests(db: Db) {
  return db.query
    .selectFrom('onbehalf_requests')
    .innerJoin('businesses as receiving', 'receiving.id', 'onbehalf_requests.receiving_business_id')
    .innerJoin('businesses as requesting', 'requesting.id', 'onbehalf_requests.requesting_business_id')
    .selectAll('onbehalf_requests')
    .select(['receiving.name as receiving_name', 'requesting.name as requesting_name'])
}

/** The requests for an account that wait: all of them for its owner, its own for every other business. */
export async function listWaitingRequests(
  db: Db,
  account: Node,
  { business_id }: Caller,
  range: PageRange,
): Promise<StoredRequest[]> {
  let waiting = selectRequests(db)
    .where('onbehalf_requests.account_id', '=', account.id)
    .where('onbehalf_requests.status', 'in', [...waitingStatuses])
  if (business_id !== account.business_id) waiting = waiting.where('requesting_business_id', '=', business_id)
  return range.apply(db.query.selectFrom(waiting.as('listed')).selectAll()).execute()
}

export interface RequestFilter {
  readonly account_id: string | undefined
  readonly status: OnbehalfStatus | undefined
}

const columns = {
  account: sql.ref<string>('onbehalf_requests.account_id'),
  business: sql.ref<string>('onbehalf_requests.receiving_business_id'),
}

/** The requests for the accounts that an operator sees, in any state. */
export async function listRequestsForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  { account_id, status }: RequestFilter,
  range: PageRange,
): Promise<StoredRequest[]> {
  let query = selectRequests(db).where(isSeen(limits, columns))
  if (account_id !== undefined) query = query.where('onbehalf_requests.account_id', '=', account_id)
  if (status !== undefined) query = query.where('onbehalf_requests.status', '=', status)
  return range.apply(db.query.selectFrom(query.as('listed')).selectAll()).execute()
}

export async function findRequestForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  id: string,
): Promise<StoredRequest | undefined> {
  return selectRequests(db).where('onbehalf_requests.id', '=', id).where(isSeen(limits, columns)).executeTakeFirst()
}

/** The waiting request of a business for an account. */
export async function findWaitingRequest(db: Db, account_id: string, requesting_business_id: string) {
  return db.query
    .selectFrom('onbehalf_requests')
    .select('id')
    .where('account_id', '=', account_id)
    .where('requesting_business_id', '=', requesting_business_id)
    .where('status', 'in', [...waitingStatuses])
    .executeTakeFirst()
}

export async function insertRequest(tx: Transaction, request: OnbehalfRequestsTable): Promise<void> {
  await tx.query.insertInto('onbehalf_requests').values(request).execute()
}

/** Changes a request that still waits: of two concurrent answers the second finds it answered. */
export async function updateWaitingRequest(tx: Transaction, id: string, status: OnbehalfStatus): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('onbehalf_requests')
    .set({ status })
    .where('id', '=', id)
    .where('status', 'in', [...waitingStatuses])
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

const lockById = defineStatement<{ account_id: string }>()((db, { account_id }) =>
  db.selectFrom('accounts').select('id').where('id', '=', account_id).forUpdate(),
)

/** Locks who has access to an account, and who asks for it, until the transaction ends. */
export function lockAccess(tx: Transaction, account_id: string): void {
  tx.lock(lockById, { account_id })
}

/** The business that acts on behalf of an account's owner. */
export async function findManager(db: Db, account_id: string): Promise<string | undefined> {
  const access = await db.query
    .selectFrom('account_access')
    .select('business_id')
    .where('account_id', '=', account_id)
    .where('relation', '=', 'on_behalf_of')
    .executeTakeFirst()
  return access?.business_id
}

export async function giveAccess(
  tx: Transaction,
  access: { readonly account_id: string; readonly business_id: string; readonly created_time: number },
): Promise<void> {
  await tx.query
    .insertInto('account_access')
    .values({ ...access, relation: 'on_behalf_of' })
    .execute()
}
