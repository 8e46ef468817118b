import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { OperatorLimits } from '../../graph/context.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import type { NodeKindInfo } from '../../graph/nodes.ts'
import { isSeen } from './limits.ts'

export interface NodeFilter {
  readonly kind: string | undefined
  /** A part of a name, number or id. */
  readonly q: string | undefined
  readonly business_id: string | undefined
  readonly account_id: string | undefined
}

type Kinds = Readonly<Record<string, NodeKindInfo>>
type Named = NonNullable<NodeKindInfo['named']>

const owner = { account: sql.ref<string>('nodes.account_id'), business: sql.ref<string>('nodes.business_id') }

/** Nodes of every tenant with their names. For operators: bound by their limits alone. */
export async function listNodesForOperators(
  db: Db,
  kinds: Kinds,
  limits: OperatorLimits | undefined,
  { kind, q, business_id, account_id }: NodeFilter,
  range: PageRange,
) {
  let query = db.query
    .selectFrom('nodes')
    .select(['id', 'kind', 'business_id', 'account_id', nameOf(kinds).as('name')])
    .where(isSeen(limits, owner))
  if (kind !== undefined) query = query.where('kind', '=', kind)
  if (business_id !== undefined) query = query.where('business_id', '=', business_id)
  if (account_id !== undefined) query = query.where('account_id', '=', account_id)
  if (q !== undefined) query = query.where(hasPart(kinds, q))
  return range.apply(query).execute()
}

/** The narrowest condition by whose index nodes come in the order of their ids. */
export function indexedBy(
  limits: OperatorLimits | undefined,
  { kind, business_id, account_id }: NodeFilter,
): RawBuilder<boolean> | undefined {
  if (account_id !== undefined) return sql`account_id = ${account_id}`
  const { businesses, accounts } = limits ?? {}
  const [only] = businesses?.size === 1 && !accounts?.size ? businesses : []
  const business = business_id ?? only
  if (business !== undefined) return sql`business_id = ${business}`
  return kind === undefined ? undefined : sql`kind = ${kind}`
}

function listNamed(kinds: Kinds): [kind: string, named: Named][] {
  return Object.entries(kinds).flatMap(([kind, { named }]): [string, Named][] => (named ? [[kind, named]] : []))
}

function idOf({ table, id = 'id' }: Named): RawBuilder<unknown> {
  return sql.ref(`${table}.${id}`)
}

function nameOf(kinds: Kinds): RawBuilder<string | null> {
  const cases = listNamed(kinds).map(([kind, named]) => {
    const { table, columns } = named
    const column = sql.ref(`${table}.${columns[0]}`)
    return sql`WHEN ${sql.lit(kind)} THEN (SELECT ${column} FROM ${sql.table(table)} WHERE ${idOf(named)} = nodes.id)`
  })
  return sql<string | null>`CASE nodes.kind ${sql.join(cases, sql` `)} END`
}

/** By the id of each node: a scan looks at few of them at a time. */
function hasPart(kinds: Kinds, part: string): RawBuilder<boolean> {
  const pattern = `%${part.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  const isLike = (text: RawBuilder<unknown>) => sql<boolean>`LOWER(${text}) LIKE ${pattern} ESCAPE '\\'`
  const cases = listNamed(kinds).map(([kind, named]) => {
    const { table, columns } = named
    const matches = columns.map((column) => isLike(sql.ref(`${table}.${column}`)))
    return sql`WHEN ${sql.lit(kind)} THEN EXISTS (
      SELECT 1 FROM ${sql.table(table)} WHERE ${idOf(named)} = nodes.id AND (${sql.join(matches, sql` OR `)}))`
  })
  return sql`(${isLike(sql.ref('nodes.id'))} OR CASE nodes.kind ${sql.join(cases, sql` `)} ELSE FALSE END)`
}
