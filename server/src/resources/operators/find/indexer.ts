import { sql } from 'kysely'
import type { Log } from '../../../base/log/log.ts'
import { listWords } from '../../../base/text/words.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { second } from '../../../base/time/duration.ts'
import { rest } from '../../../base/walk.ts'
import { Loop } from '../../../base/work/loop.ts'
import type { Database, Transaction } from '../../../db/database.ts'
import { lockFreeRowsOf } from '../../../db/row-locks.ts'
import { defineSql } from '../../../db/statement.ts'
import { listStoredTexts } from '../../messages/public.ts'
import { checkOfKey, hashWords } from './word-hashes.ts'

/** A search finds names that are not split yet as well, as long as there are few. */
const pollMilliseconds = { embedded: 5 * second, remote: 20 * second }
/** How many rows one transaction changes: few enough that no write waits for long. */
const stepSize = 200
/** The same of contents that the index of the embedded store takes: a larger part costs less for each. */
const indexStep = 500
/** How many pages a merge writes at the most: more than a step adds, over all merges that it causes, and a matter of milliseconds. */
const pagesToMerge = 64

interface IndexerDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
}

/**
 * Lists the words that operators search by, of what came without them: names, which triggers note, and messages that an earlier version
 * stored. Processes skip the rows that another one has locked.
 */
export class WordIndexer {
  readonly #deps: IndexerDeps
  readonly #loop: Loop

  constructor(deps: IndexerDeps) {
    this.#deps = deps
    const { database, log } = deps
    this.#loop = new Loop({
      work: () => this.run(),
      pause: 0,
      every: database.isEmbedded ? pollMilliseconds.embedded : pollMilliseconds.remote,
      onFailure(error) {
        if (!database.outageOf(error)) log.error({ err: error }, 'words to search by could not be listed')
      },
    })
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
  }

  async run(): Promise<void> {
    const { database, clock } = this.#deps
    const now = clock.now()
    await this.#repeat((tx) => splitNames(tx, now), stepSize)
    if (database.isEmbedded) await this.#repeat(fillIndex, indexStep)
    else await this.#repeat(listWordsOfMessages, stepSize)
  }

  /** Until a step finds less than it takes at once. */
  async #repeat(step: (tx: Transaction) => Promise<number>, size: number): Promise<void> {
    while (!this.#loop.isStopped) {
      const started = performance.now()
      if ((await this.#deps.database.transaction(step, { wipes: true })) < size) return
      await rest(started)
    }
  }
}

interface UnsplitName {
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly time: number | null
}

const takeUnsplit = defineSql<object>()(
  () => sql<UnsplitName>`
    SELECT s.kind, s.id, s.name, s.time FROM searchable_names s WHERE s.is_split = FALSE
    LIMIT ${sql.lit(stepSize)} ${lockFreeRowsOf('s', 'ForUpdate')}`,
)

type Listed<Row> = Readonly<Record<string, Row>>

const isListed = (names: Listed<readonly [kind: string, id: string]>) =>
  sql`(kind, id) IN (SELECT o.value ->> 0, o.value ->> 1 FROM json_each(${names}) AS o)`

const deleteWords = defineSql<{ names: Listed<readonly [string, string]> }>()(
  ({ names }) => sql`DELETE FROM name_words WHERE ${isListed(names)}`,
)

const insertWords = defineSql<{ words: Listed<readonly unknown[]> }>()(
  ({ words }) => sql`
    INSERT INTO name_words (word, time, id, kind)
    SELECT o.value ->> 0, CAST(o.value ->> 1 AS BIGINT), o.value ->> 2, o.value ->> 3 FROM json_each(${words}) AS o`,
)

const noteSplit = defineSql<{ names: Listed<readonly [string, string]>; now: number }>()(
  ({ names, now }) => sql`
    UPDATE searchable_names SET is_split = TRUE, time = COALESCE(time, CAST(${now} AS BIGINT)) WHERE ${isListed(names)}`,
)

async function splitNames(tx: Transaction, now: number): Promise<number> {
  const unsplit = await tx.list(takeUnsplit, {})
  if (unsplit.length === 0) return 0
  const names = list(unsplit.map(({ kind, id }) => [kind, id] as const))
  const words = unsplit.flatMap(({ kind, id, name, time }) =>
    listWords(name).map((word) => [word, time ?? now, id, kind] as const),
  )
  tx.run(deleteWords, { names })
  if (words.length > 0) tx.run(insertWords, { words: list(words) })
  tx.run(noteSplit, { names, now })
  return unsplit.length
}

/** As the object that the databases make rows of. */
function list<Row>(rows: readonly Row[]): Listed<Row> {
  return Object.fromEntries(rows.entries())
}

const takeWithoutWords = defineSql<object>()(
  () => sql<{ message_id: string; content: string }>`
    SELECT c.message_id, c.content FROM message_contents c WHERE c.words IS NULL
    ORDER BY c.created_time DESC LIMIT ${sql.lit(stepSize)} ${lockFreeRowsOf('c', 'ForUpdate')}`,
)

const setWords = defineSql<{ words: Listed<readonly string[]> }>()(
  ({ words }) => sql`
    UPDATE message_contents SET words = o.value FROM json_each(${words}) AS o
    WHERE message_contents.message_id = o.key`,
)

/** The newest first, because these are searched for. */
async function listWordsOfMessages(tx: Transaction): Promise<number> {
  const contents = await tx.list(takeWithoutWords, {})
  if (contents.length === 0) return 0
  tx.run(setWords, { words: wordsOf(contents) })
  return contents.length
}

function wordsOf(contents: readonly { readonly message_id: string; readonly content: string }[]) {
  const words = contents.map(({ message_id, content }) => [message_id, listWords(...listStoredTexts(content))] as const)
  return Object.fromEntries(words)
}

const findRange = defineSql<object>()(
  () => sql<{ after: number; last: number; count: number }>`
    SELECT e.last_rowid AS after, MAX(c.id) AS last, COUNT(*) AS count FROM message_words_end e
    JOIN (SELECT rowid AS id FROM message_contents WHERE rowid > (SELECT last_rowid FROM message_words_end)
      ORDER BY rowid LIMIT ${sql.lit(indexStep)}) AS c ON TRUE`,
)

interface Range {
  readonly after: number
  readonly last: number
}

const takeUnlisted = defineSql<Range>()(
  ({ after, last }) => sql<{ message_id: string; content: string }>`
    SELECT message_id, content FROM message_contents WHERE rowid > ${after} AND rowid <= ${last} AND words IS NULL`,
)

const listWordsOfRange = defineSql<Range>()(
  ({ after, last }) => sql<{ id: number; words: readonly string[] }>`
    SELECT rowid AS id, words FROM message_contents WHERE rowid > ${after} AND rowid <= ${last}`,
)

const indexWords = defineSql<{ words: Listed<string> }>()(
  ({ words }) => sql`
    INSERT INTO message_words (rowid, words) SELECT CAST(o.key AS INTEGER), o.value FROM json_each(${words}) AS o`,
)

const noteIndexed = defineSql<Pick<Range, 'last'>>()(
  ({ last }) => sql`UPDATE message_words_end SET last_rowid = ${last}`,
)

/** Each step adds a part to the index, and is a good time to merge some: what was removed goes with that. */
const mergeIndex = defineSql<object>()(
  () => sql`INSERT INTO message_words (message_words, rank) VALUES ('merge', ${sql.lit(pagesToMerge)})`,
)

const isOfKey = defineSql<{ check: string }>()(
  ({ check }) => sql<{ one: number }>`SELECT 1 AS one FROM message_words_end WHERE key_check = ${check}`,
)

const emptyIndex = defineSql<object>()(() => sql`INSERT INTO message_words (message_words) VALUES ('delete-all')`)

const beginIndex = defineSql<{ check: string }>()(
  ({ check }) => sql`UPDATE message_words_end SET last_rowid = 0, key_check = ${check}`,
)

/** In the embedded store: the index takes the contents that came since. */
async function fillIndex(tx: Transaction): Promise<number> {
  await checkIndex(tx)
  const [range] = await tx.list(findRange, {})
  if (!range || range.count === 0) return 0
  const unlisted = await tx.list(takeUnlisted, range)
  if (unlisted.length > 0) tx.run(setWords, { words: wordsOf(unlisted) })
  const listed = await tx.list(listWordsOfRange, range)
  const words = listed.map(({ id, words }) => [id, hashWords(tx, words).join(' ')] as const)
  tx.run(indexWords, { words: Object.fromEntries(words) })
  tx.run(noteIndexed, range)
  tx.run(mergeIndex, {})
  return range.count
}

/** Begins anew where the keys of the store are others than those that the index was written by. */
async function checkIndex(tx: Transaction): Promise<void> {
  const check = checkOfKey(tx)
  const [known] = await tx.list(isOfKey, { check })
  if (known) return
  tx.run(emptyIndex, {})
  tx.run(beginIndex, { check })
}
