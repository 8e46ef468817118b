import { sql } from 'kysely'
import { listWords } from '../../../base/text/words.ts'
import type { Db } from '../../../db/database.ts'
import type { Page, PageRange } from '../../../graph/lists/paging.ts'
import type { NodeKindInfo } from '../../../graph/nodes.ts'
import { describeFound, type Found } from './describe.ts'
import {
  type FoundRow,
  includes,
  isIndexed,
  listExact,
  listMessages,
  listNamed,
  listTraces,
  listUnsplit,
  listWalked,
  type MessagePath,
  maxByIndex,
  type Scope,
  type Source,
  type TracedRequest,
} from './sources.ts'
import type { Wanted } from './wanted.ts'

/** Enough to tell which word is rare. */
const countedOfWord = 200
/** Names that came since the worker split some: it is seconds behind. */
const maxUnsplit = 1000

export interface Search extends Scope {
  readonly wanted: Wanted
  readonly since: number | undefined
  readonly until: number | undefined
  readonly nodeKinds: Readonly<Record<string, NodeKindInfo>>
  /** Those that are searched for. */
  readonly requests: readonly TracedRequest[]
}

/** Everything that fits, newest first. For operators: bound by their limits alone. */
export async function findForOperators(db: Db, page: Page, search: Search) {
  const { wanted, since, until } = search
  const { words } = wanted
  const rarestInNames = await findRarest(db, words)
  const path = includes(search, 'message') ? await findMessagePath(db, words) : undefined
  const sources = [
    ...listExact(wanted, search),
    ...listTraces(wanted, search, search.requests),
    ...(rarestInNames === undefined ? [] : [listNamed(words, rarestInNames, search)]),
    ...listUnsplit(await listUnsplitFitting(db, search), page.now, search),
    ...(path ? [listMessages(db, words, path, search)] : []),
  ]
  const walked = listWalked(rarestInNames, path)
  const table = sql`(${sql.join(walked, sql` UNION ALL `)}) AS walked`
  const scan = walked.length === 0 ? undefined : { db, table, bounds: { atLeast: since, below: until } }
  // A range of a scan is within the bounds.
  const period = scan ? {} : { since, until }
  return page.fetch(
    async (range) => describeFound(db, search, await listRange(db, sources, period, range)),
    showFound,
    scan,
  )
}

/** Each source gives as many as the page holds, so that its index ends the search. */
async function listRange(
  db: Db,
  sources: readonly Source[],
  { since, until }: Partial<Pick<Search, 'since' | 'until'>>,
  range: PageRange,
): Promise<FoundRow[]> {
  const cut = sources.map((source) => {
    let query = db.query.selectFrom(sql<FoundRow>`(${source})`.as('found')).selectAll()
    if (since !== undefined) query = query.where('time', '>=', since)
    if (until !== undefined) query = query.where('time', '<', until)
    return sql`SELECT * FROM (${range.apply(query)}) AS cut`
  })
  if (cut.length === 0) return []
  const all = sql<FoundRow>`(${sql.join(cut, sql` UNION `)})`.as('found')
  return range.apply(db.query.selectFrom(all).selectAll()).execute()
}

function showFound({ time, account_id, ...found }: Found) {
  return {
    ...found,
    time: time === 0 ? null : new Date(time).toISOString(),
    ...(account_id !== null && { account_id }),
  }
}

/** The word that the fewest names have; undefined when one of them has none. */
async function findRarest(db: Db, words: readonly string[]): Promise<string | undefined> {
  const keys = Object.fromEntries(words.map((word) => [word, 1]))
  const counted = sql<{ word: string; count: number }>`
    SELECT o.key AS word, (SELECT COUNT(*) FROM (
      SELECT 1 FROM name_words t WHERE t.word = o.key LIMIT ${sql.lit(countedOfWord)}) AS counted) AS count
    FROM json_each(${JSON.stringify(keys)}) AS o`
  const { rows } = await counted.execute(db.query)
  const [rarest] = rows.toSorted((one, other) => one.count - other.count)
  return rarest && rarest.count > 0 ? rarest.word : undefined
}

async function findMessagePath(db: Db, words: readonly string[]): Promise<MessagePath | undefined> {
  const counted = sql<{ count: number }>`SELECT COUNT(*) AS count FROM (
    SELECT 1 FROM message_contents WHERE ${isIndexed(db, words)} LIMIT ${sql.lit(maxByIndex + 1)}) AS counted`
  const { rows } = await counted.execute(db.query)
  const count = rows[0]?.count ?? 0
  if (count === 0) return undefined
  return count > maxByIndex ? 'time' : 'index'
}

async function listUnsplitFitting(db: Db, { wanted, kind }: Search) {
  // As a literal, so that the index of these can be used.
  const isUnsplit = sql<boolean>`is_split = FALSE`
  let query = db.query.selectFrom('searchable_names').select(['kind', 'id', 'name']).where(isUnsplit)
  if (kind !== undefined) query = query.where('kind', '=', kind)
  const names = await query.limit(maxUnsplit).execute()
  return names.filter(({ name }) => {
    const words = new Set(listWords(name))
    return wanted.words.every((word) => words.has(word))
  })
}
