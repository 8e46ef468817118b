import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { UsersTable } from '../../db/tables.ts'
import type { CursorKey } from '../../graph/lists/cursors.ts'
import type { ListOptions, PagePosition } from '../../graph/lists/paging.ts'
import type { MergedScan } from '../../graph/lists/scan.ts'

export const userList: ListOptions = {
  maxLimit: 1000,
  idColumn: 'wa_id',
  sorts: { 'wa_id.asc': { column: 'wa_id', direction: 'asc' } },
  defaultSort: 'wa_id.asc',
  sortable: false,
}

export interface UserFilter {
  readonly q: string | undefined
  /** The only accounts that the caller sees; undefined: no such limit. */
  readonly accounts: ReadonlySet<string> | undefined
}

/** A user with what is stored; null: nothing is, and the user has the defaults. */
export type ListedUser = Pick<UsersTable, 'wa_id'> & { readonly [K in keyof UsersTable]: UsersTable[K] | null }

type Stretch = Omit<PagePosition, 'limit'>

/**
 * Users are those whose phone was set or named, and those with a chat; a caller with limits sees the last alone, with its accounts. Both
 * are read in the order of their numbers, each by its index.
 */
export async function listUsersForGateway(db: Db, filter: UserFilter, position: PagePosition): Promise<ListedUser[]> {
  const found = new Set<string>()
  for (const source of sourcesOf(filter)) {
    const limit = sql`LIMIT ${sql.lit(position.limit)}`
    for (const wa_id of await select(db, source, position, source.isWanted, limit)) found.add(wa_id)
  }
  const sign = position.side === 'after' ? 1 : -1
  const wanted = [...found].sort((a, b) => (a < b ? -sign : sign)).slice(0, position.limit)
  if (wanted.length === 0) return []
  const rows = await db.query.selectFrom('users').selectAll().where('wa_id', 'in', wanted).execute()
  const stored = new Map(rows.map((row) => [row.wa_id, row]))
  return wanted.map((wa_id) => stored.get(wa_id) ?? { wa_id, ...nothingStored })
}

const nothingStored = { name: null, presence: null, auto_read: null, read_receipts: null, reachable: null }

/** For a filter that few fit: the nearest of the places up to which each source was looked at. */
export function scanUsers(db: Db, filter: UserFilter): MergedScan {
  return {
    async findEdge(side, from, distance) {
      const edges: string[] = []
      for (const source of sourcesOf(filter)) {
        const limit = sql`LIMIT 1 OFFSET ${sql.lit(distance - 1)}`
        edges.push(...(await select(db, source, { side, from, to: undefined }, sql`TRUE`, limit)))
      }
      const [nearest] = side === 'after' ? edges.sort() : edges.sort().reverse()
      return nearest === undefined ? undefined : ([nearest, nearest] satisfies CursorKey)
    },
  }
}

interface Source {
  readonly table: RawBuilder<unknown>
  readonly wa_id: RawBuilder<string>
  readonly isWanted: RawBuilder<boolean>
}

function sourcesOf({ q, accounts }: UserFilter): Source[] {
  const pattern = q === undefined ? undefined : `%${q.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  const isLike = (text: RawBuilder<unknown>) => sql<boolean>`LOWER(${text}) LIKE ${pattern} ESCAPE '\\'`
  const named = sql<boolean>`EXISTS (SELECT 1 FROM users u WHERE u.wa_id = chats.user_wa_id AND ${isLike(sql`u.name`)})`
  const [ofUser, ofChat] = [sql.ref<string>('users.wa_id'), sql.ref<string>('chats.user_wa_id')]
  const isOfAccount =
    accounts &&
    sql<boolean>`(SELECT n.account_id FROM phone_numbers n WHERE n.id = chats.phone_number_id) IN (${sql.join([...accounts, ''])})`
  const chats = {
    table: sql`chats`,
    wa_id: ofChat,
    isWanted: sql<boolean>`${pattern === undefined ? sql`TRUE` : sql`(${isLike(ofChat)} OR ${named})`} AND ${isOfAccount ?? sql`TRUE`}`,
  }
  if (accounts) return [chats]
  const isWanted =
    pattern === undefined ? sql<boolean>`TRUE` : sql<boolean>`(${isLike(ofUser)} OR ${isLike(sql`users.name`)})`
  return [chats, { table: sql`users`, wa_id: ofUser, isWanted }]
}

async function select(
  db: Db,
  { table, wa_id }: Source,
  { side, from, to }: Stretch,
  isWanted: RawBuilder<boolean>,
  limit: RawBuilder<unknown>,
): Promise<string[]> {
  const [beyond, upTo, direction] = side === 'after' ? ['>', '<=', 'ASC'] : ['<', '>=', 'DESC']
  // Not empty: a bound also where there is none else, for the index.
  const conditions = [
    sql`${wa_id} ${sql.raw(from ? beyond : '>')} ${from ? String(from[0]) : ''}`,
    ...(to ? [sql`${wa_id} ${sql.raw(upTo)} ${String(to[0])}`] : []),
    isWanted,
  ]
  const { rows } = await sql<{ wa_id: string }>`
    SELECT DISTINCT ${wa_id} AS wa_id FROM ${table} WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY 1 ${sql.raw(direction)} ${limit}`.execute(db.query)
  return rows.map((row) => row.wa_id)
}
