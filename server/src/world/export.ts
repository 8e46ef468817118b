import { CORE_SCHEMA, dump } from 'js-yaml'
import type { Db } from '../db/database.ts'
import type { ExportedRow, RowsExport, ValueExport, WorldPart } from '../world-part/part.ts'
import { type Exported, feedRows, readPages, readValues } from './export-rows.ts'
import { partsUnder } from './parts.ts'

/**
 * Writes a store as a world file, piece by piece, so that a large one is never whole in memory. The same store always gives the same
 * text: everything is in the order of ids. Tokens are left out, because only their hashes are stored.
 */
export async function* exportWorld(db: Db): AsyncGenerator<string> {
  yield* writeYaml(readWorld(db))
}

/** An entry at the top of a file, with the lists that follow its own members. */
export interface TopEntry {
  readonly key: string
  readonly entry: Readonly<Record<string, unknown>>
  readonly lists: readonly { readonly key: string; readonly items: AsyncIterable<object> }[]
}

/** What a file of the whole store holds, in its order. The lists of an entry must be read before the next entry. */
export async function* readWorld(db: Db): AsyncGenerator<TopEntry> {
  for (const part of partsUnder(undefined)) {
    if (part.export?.kind === 'rows') yield* readTop(db, part, part.export)
  }
}

async function* readTop(db: Db, part: WorldPart, rows: RowsExport): AsyncGenerator<TopEntry> {
  const lists = listsUnder(part)
  for await (const page of readPages(db, rows)) {
    const feeds: Awaited<ReturnType<typeof openFeed>>[] = []
    for (const list of lists) feeds.push(await openFeed(db, list, page))
    for (const { id, entry } of await toEntries(db, part, rows, page)) {
      const lists = feeds.map(({ key, takeOf }) => ({ key, items: takeOf(id) }))
      yield { key: part.key, entry: entry as Record<string, unknown>, lists }
    }
  }
}

export async function* writeYaml(entries: AsyncIterable<TopEntry>): AsyncGenerator<string> {
  let last: string | undefined
  for await (const { key, entry, lists } of entries) {
    if (key !== last) yield `${key}:\n`
    last = key
    yield writeItem(entry, '  ')
    for (const { key: name, items } of lists) yield* writeList(name, items, '    ')
  }
}

export async function* writeWorldJson(entries: AsyncIterable<TopEntry>): AsyncGenerator<string> {
  let last: string | undefined
  yield '{'
  for await (const { key, entry, lists } of entries) {
    if (key === last) yield ','
    else yield `${last === undefined ? '' : '],'}${JSON.stringify(key)}:[`
    last = key
    yield JSON.stringify(entry).slice(0, -1)
    for (const { key: name, items } of lists) yield* writeJsonList(name, items)
    yield '}'
  }
  yield last === undefined ? '}\n' : ']}\n'
}

/** A further member of an object: every entry has one already. */
async function* writeJsonList(key: string, items: AsyncIterable<object>): AsyncGenerator<string> {
  let isFirst = true
  for await (const item of items) {
    yield `${isFirst ? `,${JSON.stringify(key)}:[` : ','}${JSON.stringify(item)}`
    isFirst = false
  }
  if (!isFirst) yield ']'
}

interface ListPart {
  readonly part: WorldPart
  readonly rows: RowsExport
}

/** The lists that follow each entry of a part. Lists with nested entries are the longest, and come last. */
function listsUnder(holder: WorldPart): ListPart[] {
  const lists = partsUnder(holder).flatMap((part) =>
    part.export?.kind === 'rows' ? [{ part, rows: part.export }] : [],
  )
  const holdsOthers = ({ part }: ListPart) => partsUnder(part).length > 0
  return [...lists.filter((list) => !holdsOthers(list)), ...lists.filter(holdsOthers)]
}

async function openFeed(db: Db, { part, rows }: ListPart, holders: readonly ExportedRow[]) {
  const feed = await feedRows(db, rows, holders.map(idOf), (batch) => toEntries(db, part, rows, batch))
  return { key: part.key, takeOf: (id: string) => feed.takeOf(id) }
}

/** The entries of rows, with the values that other parts add to them. */
async function toEntries(
  db: Db,
  part: WorldPart,
  rows: RowsExport,
  batch: readonly ExportedRow[],
): Promise<Exported[]> {
  const own = await rows.toEntries(batch, db)
  const values = partsUnder(part).flatMap(({ key, export: value }) => (value?.kind === 'value' ? [{ key, value }] : []))
  const added: Awaited<ReturnType<typeof readAdded>>[] = []
  for (const { key, value } of values) added.push(await readAdded(db, key, value, batch))
  const entries: Exported[] = []
  for (const [index, row] of batch.entries()) {
    const id = idOf(row)
    const entry: Record<string, unknown> = { ...own[index] }
    for (const { key, readOf } of added) {
      const value = await readOf(id)
      if (value !== undefined) entry[key] = value
    }
    entries.push({ id, entry })
  }
  return entries
}

async function readAdded(db: Db, key: string, value: ValueExport, holders: readonly ExportedRow[]) {
  const rows = await readValues(db, value, holders.map(idOf))
  return { key, readOf: (id: string) => value.toValue(rows.get(id) ?? [], db) }
}

function idOf(row: ExportedRow): string {
  return String(row['id'])
}

/** A key with a list; nothing when the list is empty. */
async function* writeList(key: string, items: AsyncIterable<object>, indent: string): AsyncGenerator<string> {
  let isFirst = true
  for await (const item of items) {
    if (isFirst) yield `${indent}${key}:\n`
    isFirst = false
    yield writeItem(item, `${indent}  `)
  }
}

/** One item of a list, by the schema that also reads files. */
export function writeItem(item: object, indent: string): string {
  const text = dump([item], { schema: CORE_SCHEMA, lineWidth: -1, noRefs: true })
  return text.replaceAll(/^(?=.)/gm, indent)
}
