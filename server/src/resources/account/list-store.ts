import { type RawBuilder, sql } from 'kysely'
import { isSeenBy } from '../../auth/access.ts'
import type { Db } from '../../db/database.ts'
import type { AccountsTable } from '../../db/tables.ts'
import type { Caller } from '../../graph/caller.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import type { Scan } from '../../graph/lists/scan.ts'
import type { Node } from '../../graph/nodes.ts'

/** An account in a list, with the name of its owner. */
export interface ListedAccount extends AccountsTable {
  readonly owner_name: string
}

/** The accounts that a business owns, of those that the caller sees. */
export async function listOwnedAccounts(
  db: Db,
  business: Node,
  caller: Caller,
  find: string | undefined,
  range: PageRange,
): Promise<ListedAccount[]> {
  const owned = db.query
    .selectFrom('accounts')
    .innerJoin('businesses as owner', 'owner.id', 'accounts.business_id')
    .selectAll('accounts')
    .select('owner.name as owner_name')
    .where('accounts.business_id', '=', business.id)
    .where(isSeenBy(caller, sql.ref('accounts.id')))
    .where(hasPart(find))
  return range.apply(db.query.selectFrom(owned.as('listed')).selectAll()).execute()
}

/** A filter may leave few of many accounts. */
export function scanOwned(db: Db, business: Node, caller: Caller, find: string | undefined): Scan | undefined {
  if (!isNarrowed(business, caller, find)) return undefined
  return { db, table: 'accounts', by: sql`business_id = ${business.id}` }
}

export interface GivenAccount extends ListedAccount {
  /** Since when the business has access. */
  readonly given_time: number
}

/** The accounts that others gave a business, of those that the caller sees. */
export async function listGivenAccounts(
  db: Db,
  business: Node,
  caller: Caller,
  find: string | undefined,
  range: PageRange,
): Promise<GivenAccount[]> {
  const given = db.query
    .selectFrom('account_access as access')
    .innerJoin('accounts', 'accounts.id', 'access.account_id')
    .innerJoin('businesses as owner', 'owner.id', 'accounts.business_id')
    .selectAll('accounts')
    .select(['access.account_id', 'access.business_id as holder_id', 'access.created_time as given_time'])
    .select('owner.name as owner_name')
    .where('access.business_id', '=', business.id)
    // As in the index: a value of its own would not be recognised.
    .where(sql<boolean>`access.relation <> 'owner'`)
    .where(sql<boolean>`NOT ${isListedByAnother}`)
    .where('accounts.business_id', '<>', business.id)
    .where(isSeenBy(caller, sql.ref('access.account_id')))
    .where(hasPart(find))
  return range.apply(db.query.selectFrom(given.as('listed')).selectAll()).execute()
}

/** A business may have access to an account in several ways: it is listed once, by the last of their names. */
const isListedByAnother = sql<boolean>`EXISTS (
  SELECT 1 FROM account_access other
  WHERE other.account_id = access.account_id AND other.business_id = access.business_id
    AND other.relation <> 'owner' AND other.relation > access.relation)`

export function scanGiven(db: Db, business: Node, caller: Caller, find: string | undefined): Scan | undefined {
  if (!isNarrowed(business, caller, find)) return undefined
  const table = sql`(SELECT business_id AS holder_id, created_time AS given_time, account_id
    FROM account_access WHERE relation <> 'owner') AS given`
  return { db, table, by: sql`holder_id = ${business.id}` }
}

function isNarrowed(business: Node, caller: Caller, find: string | undefined): boolean {
  return find !== undefined || caller.business_id !== business.id || caller.accounts !== undefined
}

function hasPart(part: string | undefined): RawBuilder<boolean> {
  if (part === undefined) return sql<boolean>`TRUE`
  const pattern = `%${part.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  return sql<boolean>`LOWER(accounts.name) LIKE ${pattern} ESCAPE '\\'`
}
