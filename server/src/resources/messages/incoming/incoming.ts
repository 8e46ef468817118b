import type { Transaction } from '../../../db/database.ts'
import type { MediaTable } from '../../../db/tables.ts'
import { useFile } from '../../../files/files.ts'
import type { GraphError } from '../../../graph/graph-error.ts'
import { recordForStream } from '../../../stream/stream-record.ts'
import { isMediaKind } from '../content/kinds.ts'
import { messageUse, showMedia } from '../content/stored-files.ts'
import { listWordsOf } from '../content/texts.ts'
import { incomingIdTaken, writerIsNumber } from '../errors.ts'
import { streamMessage } from '../status/stream-events.ts'
import { chatIdOf, groupChatIdOf, holdMediaOfNumbers, ownIdOf, upsertUsers } from '../store.ts'
import {
  type IncomingRow,
  insertContents,
  insertIncoming,
  insertOwn,
  listHolders,
  readWriters,
  type TouchedChat,
  touchChats,
  type Writer,
  writerKeyOf,
} from './incoming-store.ts'

/** A message of a user, as in events: its form was checked. */
export interface IncomingMessage {
  readonly id: string
  readonly from: string
  readonly timestamp: string
  readonly type: string
  readonly group_id?: unknown
  readonly context?: { readonly id?: unknown }
}

/** A message as it arrived: on which number, with an id that can be stored, from whom by name, and how to write a part of it as received. */
export interface Incoming {
  readonly phone_number_id: string
  readonly id: string
  readonly message: IncomingMessage
  readonly name: string | undefined
  readonly write: (part: object) => string
}

const userPattern = /^\d{1,20}$/
const maxNameLength = 256

/** Who writes messages, before they are stored. */
export function readWritersOf(tx: Transaction, arrived: readonly Incoming[]): Promise<ReadonlyMap<string, Writer>> {
  const written = arrived.filter(isOfUser)
  if (written.length === 0) return Promise.resolve(new Map())
  return readWriters(
    tx,
    written.map(({ phone_number_id, message }) => [phone_number_id, message.from]),
  )
}

export type Writers = ReadonlyMap<string, Writer>

/** The media files of messages, as far as they are stored here. */
export type MediaOfMessages = ReadonlyMap<IncomingMessage, MediaTable>

export interface StoredIncoming {
  /**
   * The messages to raise events for: new ones, of users whom the number has not blocked. A message whose sender cannot be a user is
   * passed on without being stored.
   */
  readonly notified: ReadonlySet<IncomingMessage>
  /** Those that are not taken, each for its own fault. */
  readonly refused: ReadonlyMap<Incoming, GraphError>
  readonly media: MediaOfMessages
}

/** Stores new messages of users in few statements, however many there are, and opens their windows. */
export async function storeIncoming(
  tx: Transaction,
  now: number,
  received: readonly Incoming[],
  writers: Writers,
): Promise<StoredIncoming> {
  const notified = new Set(received.filter((one) => !isOfUser(one)).map(({ message }) => message))
  const written = received.filter(isOfUser)
  const isOfNumber = ({ phone_number_id, message }: Incoming) =>
    writers.get(writerKeyOf(phone_number_id, message.from))?.isNumber === true
  const refused = new Map<Incoming, GraphError>()
  for (const one of written.filter(isOfNumber)) refused.set(one, writerIsNumber())
  const others = written.filter((one) => !refused.has(one))
  const fresh = await leaveOutTaken(tx, now, others, await insertAll(tx, now, others), refused)
  if (fresh.length === 0) return { notified, refused, media: new Map() }
  const media = await findMedia(tx, now, fresh)
  insertContents(tx, now, describeContents(tx, fresh, media))
  const chats = new Map<string, TouchedChat>()
  for (const one of fresh) {
    const { phone_number_id, id, message } = one
    const { from, type } = message
    const group_id = readGroup(message)
    const isNotified = group_id !== null || !writers.get(writerKeyOf(phone_number_id, from))?.isBlocked
    if (isNotified) notified.add(message)
    const chat = chatOf(one)
    const opened = isNotified && type !== 'system' ? now : null
    const window_time = opened ?? chats.get(chat)?.window_time ?? null
    const user_wa_id = group_id === null ? from : null
    chats.set(chat, { id: chat, phone_number_id, user_wa_id, group_id, window_time, last_message_id: id })
  }
  touchChats(tx, now, [...chats.values()])
  upsertUsers(tx, namesToNote(fresh, writers))
  recordForStream(
    tx,
    now,
    fresh.map(({ phone_number_id, id, message }) =>
      streamMessage({ id, phone_number_id, user_wa_id: message.from, group_id: readGroup(message) }),
    ),
  )
  return { notified, refused, media }
}

/** Whether its sender can be a user. */
export function isOfUser({ message }: Incoming): boolean {
  return userPattern.test(message.from)
}

export function readGroup({ group_id }: IncomingMessage): string | null {
  return typeof group_id === 'string' && userPattern.test(group_id) ? group_id : null
}

function chatOf({ phone_number_id, message }: Incoming): string {
  const group_id = readGroup(message)
  return group_id === null ? chatIdOf(phone_number_id, message.from) : groupChatIdOf(group_id)
}

/** Inserts messages that are new; returns the keys of those that were not there. */
async function insertAll(tx: Transaction, now: number, written: readonly Incoming[]): Promise<ReadonlySet<string>> {
  if (written.length === 0) return new Set()
  const inserted = await insertIncoming(
    tx,
    now,
    written.map((one) => describeRow(one, now)),
  )
  return new Set(inserted.map(keyOf))
}

function keyOf({ phone_number_id, id }: Pick<Incoming, 'phone_number_id' | 'id'>): string {
  return `${phone_number_id} ${id}`
}

/**
 * The messages that were inserted. An id that a message of another number of the same business has is refused. One that a message of
 * somebody else has is stored under an id of its own: nobody can keep messages from others by handing in their ids first.
 */
async function leaveOutTaken(
  tx: Transaction,
  now: number,
  written: readonly Incoming[],
  inserted: ReadonlySet<string>,
  refused: Map<Incoming, GraphError>,
): Promise<Incoming[]> {
  const known = written.filter((one) => !inserted.has(keyOf(one)))
  if (known.length === 0) return [...written]
  const holders = await listHolders(tx, known)
  const renamed = new Map<Incoming, Incoming>()
  for (const one of known) {
    const holder = holders.get(one.id)
    if (holder?.phone_number_id === one.phone_number_id) continue
    if (holder?.isOfBusinessOf(one.phone_number_id) !== false) refused.set(one, incomingIdTaken())
    else {
      const own = { ...one, id: ownIdOf(one.phone_number_id, one.id) }
      if (await insertOwn(tx, describeRow(own, now), now)) renamed.set(one, own)
    }
  }
  return written.flatMap((one) => (inserted.has(keyOf(one)) ? [one] : (renamed.get(one) ?? [])))
}

export function describeRow(arrived: Incoming, now: number): IncomingRow {
  const { phone_number_id, id, message } = arrived
  const { from, type, timestamp } = message
  const value = readMember(message, type)
  return {
    id,
    chat_id: chatOf(arrived),
    phone_number_id,
    user_wa_id: from,
    group_id: readGroup(message),
    type,
    is_voice: type === 'audio' && (value as { voice?: unknown })?.voice === true,
    context_id: readContext(message),
    sent_time: readTime(timestamp, now),
  }
}

async function findMedia(tx: Transaction, now: number, fresh: readonly Incoming[]): Promise<MediaOfMessages> {
  const wanted = fresh.flatMap(({ phone_number_id, message }) => {
    const media_id = readMediaId(message)
    return media_id === undefined ? [] : [{ phone_number_id, media_id }]
  })
  const files = new Map(
    (await holdMediaOfNumbers(tx, wanted, now)).map((file) => [`${file.phone_number_id} ${file.id}`, file]),
  )
  return new Map(
    fresh.flatMap(({ phone_number_id, message }) => {
      const file = files.get(`${phone_number_id} ${readMediaId(message)}`)
      return file ? [[message, file] as const] : []
    }),
  )
}

function describeContents(tx: Transaction, fresh: readonly Incoming[], files: MediaOfMessages) {
  return fresh.map((one) => {
    const { id, message } = one
    const media = files.get(message)
    if (media) useFile(tx, media.sha256, messageUse(id))
    const sha256 = media?.sha256 ?? null
    return { message_id: id, content: writeContent(one, media), sha256, words: listWordsOfIncoming(one) }
  })
}

/** What a message says, as JSON. */
export function writeContent({ message, write }: Incoming, media: Parameters<typeof showMedia>[0] | undefined): string {
  const value = readMember(message, message.type)
  const referral = readMember(message, 'referral')
  const members = [
    ...(isObject(value) ? [`"value":${write(value)}`] : []),
    ...(isObject(referral) ? [`"referral":${write(referral)}`] : []),
    ...(media ? [`"media":${JSON.stringify(showMedia(media))}`] : []),
  ]
  return `{${members.join(',')}}`
}

/** What a message is found by. */
export function listWordsOfIncoming({ message }: Incoming): string[] {
  return listWordsOf({ value: readMember(message, message.type) })
}

/** Whether it names a media file, which may be stored here. */
export function namesMedia(message: IncomingMessage): boolean {
  return readMediaId(message) !== undefined
}

function readMediaId(message: IncomingMessage): string | undefined {
  if (!isMediaKind(message.type)) return undefined
  const id = (readMember(message, message.type) as { id?: unknown })?.id
  return typeof id === 'string' ? id : undefined
}

function readMember(message: IncomingMessage, name: string): unknown {
  return (message as unknown as Record<string, unknown>)[name]
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function readContext({ context }: IncomingMessage): string | null {
  const id = context?.id
  return typeof id === 'string' && id.length <= 1000 && isStorable(id) ? id : null
}

/** What PostgreSQL cannot keep is left out of columns; the content is JSON, where it is escaped. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function readTime(timestamp: string, now: number): number {
  const milliseconds = Number(timestamp) * 1000
  return Number.isSafeInteger(milliseconds) ? milliseconds : now
}

/** Who writes has a row, with the latest name: the users whose row is missing or has another name. */
function namesToNote(
  fresh: readonly Incoming[],
  writers: ReadonlyMap<string, Writer>,
): ReadonlyMap<string, string | null> {
  const names = new Map<string, string | null>()
  for (const one of fresh) {
    const { phone_number_id, message } = one
    const { from } = message
    const writer = writers.get(writerKeyOf(phone_number_id, from))
    const given = nameOfIncoming(one) ?? null
    const known = names.get(from) ?? writer?.name ?? null
    if (given !== null && given !== known) names.set(from, given)
    else if (!writer?.isKnown && !names.has(from)) names.set(from, null)
  }
  return names
}

/** The name that its writer goes by, if a usable one was given. */
export function nameOfIncoming({ name, message }: Incoming): string | undefined {
  return name !== undefined && isName(name, message.from) ? name : undefined
}

/** The number itself, which stands where no name is known, is no name. */
function isName(name: string, wa_id: string): boolean {
  return name !== '' && name !== `+${wa_id}` && [...name].length <= maxNameLength && isStorable(name)
}
