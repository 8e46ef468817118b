import { type Expression, type RawBuilder, sql } from 'kysely'
import type { OperatorLimits } from '../../graph/context.ts'

/** What a row belongs to, as columns of a query. */
export interface OwnerColumns {
  readonly account?: Expression<string | null>
  readonly business?: Expression<string | null>
}

/**
 * Whether an operator sees a row: everything, or what belongs to one of the accounts or businesses that the token is limited to. A row
 * without a business belongs to that of its account.
 */
export function isSeen(limits: OperatorLimits | undefined, { account, business }: OwnerColumns): RawBuilder<boolean> {
  if (!limits) return sql<boolean>`TRUE`
  const conditions: RawBuilder<boolean>[] = []
  const add = (column: Expression<string | null>, ids: ReadonlySet<string> | undefined) => {
    // Nothing for an empty list: a FALSE beside the other condition would keep both databases from using an index.
    if (ids && ids.size > 0) conditions.push(sql`${column} IN (${sql.join([...ids])})`)
  }
  if (account) add(account, limits.accounts)
  if (business) add(business, limits.businesses)
  else if (account && limits.businesses && limits.businesses.size > 0) {
    const owners = sql.join([...limits.businesses])
    conditions.push(sql`${account} IN (SELECT owned.id FROM accounts owned WHERE owned.business_id IN (${owners}))`)
  }
  return conditions.length === 0 ? sql<boolean>`FALSE` : sql`(${sql.join(conditions, sql` OR `)})`
}
