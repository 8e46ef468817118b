import type { Db } from '../../../db/database.ts'
import type { NodeKindInfo } from '../../../graph/nodes.ts'
import { listStoredTexts } from '../../messages/public.ts'
import type { FoundRow } from './sources.ts'

/** Something that was found, as people recognise it. */
export interface Found extends FoundRow {
  readonly title: string
  /** The path of its page in the console. */
  readonly link: string
}

interface Description {
  readonly title: string
  readonly link: string
}

type Descriptions = ReadonlyMap<string, Description>

const excerptLength = 100

/** Reads what a page of them is called, in one query for each kind. */
export async function describeFound(
  db: Db,
  { nodeKinds }: { readonly nodeKinds: Readonly<Record<string, NodeKindInfo>> },
  rows: readonly FoundRow[],
): Promise<Found[]> {
  const byKind = Map.groupBy(rows, ({ kind }) => kind)
  const described = new Map<string, Descriptions>()
  for (const [kind, found] of byKind) {
    const ids = found.map(({ id }) => id)
    described.set(kind, await (describers[kind] ?? describeNodes(kind, nodeKinds[kind]))(db, ids))
  }
  // What was removed since is left out.
  return rows.flatMap((row) => {
    const description = described.get(row.kind)?.get(row.id)
    return description ? [{ ...row, ...description }] : []
  })
}

type Describe = (db: Db, ids: readonly string[]) => Promise<Descriptions>

const describers: Readonly<Record<string, Describe>> = {
  message: describeMessages,
  delivery: describeDeliveries,
  trace: describeTraces,
  call: describeCalls,
  user: describeUsers,
}

async function describeMessages(db: Db, ids: readonly string[]): Promise<Descriptions> {
  const rows = await db.query
    .selectFrom('messages')
    .leftJoin('message_contents', 'message_contents.message_id', 'messages.id')
    .leftJoin('users', 'users.wa_id', 'messages.user_wa_id')
    .select(['messages.id', 'direction', 'type', 'user_wa_id', 'group_id', 'phone_number_id', 'content'])
    .select('users.name')
    .where('messages.id', 'in', [...ids])
    .execute()
  const traces = await listTracesOfMessages(db, ids)
  return new Map(
    rows.map(({ id, direction, type, user_wa_id, name, group_id, phone_number_id, content }) => {
      const other = name ?? user_wa_id ?? `the group ${group_id}`
      const side = direction === 'to_user' ? 'To' : 'From'
      const said = content === null ? `${type} message, its content was removed` : excerptOf(content, type)
      const trace = traces.get(`${phone_number_id} ${id}`)
      const link = trace === undefined ? linkToChat(user_wa_id, group_id, phone_number_id) : linkToTrace(trace)
      return [id, { title: `${side} ${other}: ${said}`, link }]
    }),
  )
}

/** The first that raised an event about a message, by its number and id: the request that sent it, or handed it in. */
async function listTracesOfMessages(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const events = await db.query
    .selectFrom('events')
    .select(['subject_id', 'phone_number_id', 'trace'])
    .where('subject_id', 'in', [...ids])
    .where('trace', 'is not', null)
    .orderBy('id', 'desc')
    .execute()
  return new Map(
    events.map(({ subject_id, phone_number_id, trace }) => [`${phone_number_id} ${subject_id}`, trace ?? '']),
  )
}

/** A message to a group has no user whose phone shows it. */
function linkToChat(user_wa_id: string | null, group_id: string | null, phone_number_id: string): string {
  const chat = group_id ?? phone_number_id
  return user_wa_id === null ? linkToNode(chat) : `/?${new URLSearchParams({ phones: user_wa_id, chat })}`
}

function linkToTrace(trace: string): string {
  return `/traces/${encodeURIComponent(trace)}`
}

function linkToNode(id: string): string {
  return `/resources/${encodeURIComponent(id)}`
}

function excerptOf(content: string, type: string): string {
  const text = listStoredTexts(content).join(' · ').replaceAll(/\s+/g, ' ').trim()
  return text === '' ? `${type} message` : shorten(text)
}

function shorten(text: string): string {
  const characters = [...text.slice(0, 4 * excerptLength)]
  return characters.length > excerptLength ? `${characters.slice(0, excerptLength - 1).join('')}…` : text
}

async function describeDeliveries(db: Db, ids: readonly string[]): Promise<Descriptions> {
  const rows = await db.query
    .selectFrom('deliveries')
    .select(['id', 'field', 'state', 'attempts'])
    .where('id', 'in', ids.map(Number))
    .execute()
  return new Map(
    rows.map(({ id, field, state, attempts }) => {
      const tried = attempts === 1 ? '1 attempt' : `${attempts} attempts`
      return [String(id), { title: `${field}: ${state}, ${tried}`, link: `/deliveries/${id}` }]
    }),
  )
}

async function describeTraces(db: Db, ids: readonly string[]): Promise<Descriptions> {
  const records = db.query
    .selectFrom('activities')
    .select(['trace', 'operation'])
    .where('trace', 'in', [...ids])
  const events = db.query
    .selectFrom('events')
    .select(['trace', 'field'])
    .where('trace', 'in', [...ids])
  const operations = new Map((await records.execute()).map(({ trace, operation }) => [trace, operation]))
  const fields = new Map((await events.execute()).map(({ trace, field }) => [trace, `an event of ${field}`]))
  return new Map(
    ids.map((id) => [id, { title: operations.get(id) ?? fields.get(id) ?? 'a request', link: linkToTrace(id) }]),
  )
}

async function describeCalls(db: Db, ids: readonly string[]): Promise<Descriptions> {
  const rows = await db.query
    .selectFrom('calls')
    .leftJoin('users', 'users.wa_id', 'calls.user_wa_id')
    .select(['calls.id', 'direction', 'user_wa_id', 'users.name', 'calls.state', 'ending'])
    .where('calls.id', 'in', [...ids])
    .execute()
  return new Map(
    rows.map(({ id, direction, user_wa_id, name, state, ending }) => {
      const side = direction === 'BUSINESS_INITIATED' ? 'to' : 'from'
      const title = `Call ${side} ${name ?? user_wa_id}: ${(ending ?? state).replaceAll('_', ' ')}`
      return [id, { title, link: `/calls/${encodeURIComponent(id)}` }]
    }),
  )
}

async function describeUsers(db: Db, ids: readonly string[]): Promise<Descriptions> {
  const rows = await db.query
    .selectFrom('users')
    .select(['wa_id', 'name'])
    .where('wa_id', 'in', [...ids])
    .execute()
  return new Map(
    rows.map(({ wa_id, name }) => [
      wa_id,
      { title: name === null ? wa_id : `${name} (${wa_id})`, link: `/?${new URLSearchParams({ phones: wa_id })}` },
    ]),
  )
}

/** By the name that is searched, or by what its kind is called. */
function describeNodes(kind: string, info: NodeKindInfo | undefined): Describe {
  return async (db, ids) => {
    const rows = await db.query
      .selectFrom('searchable_names')
      .select(['id', 'name'])
      .where('kind', '=', kind)
      .where('id', 'in', [...ids])
      .execute()
    const names = new Map(rows.map(({ id, name }) => [id, name]))
    const called = info?.called ?? kind
    return new Map(ids.map((id) => [id, { title: names.get(id) ?? called, link: linkToNode(id) }]))
  }
}
