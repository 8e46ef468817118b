import type { Transaction } from '../../db/database.ts'
import { useFile } from '../../files/files.ts'
import { recordForStream } from '../../stream/record.ts'
import { incomingIdTaken, writerIsNumber } from './errors.ts'
import {
  type IncomingRow,
  insertContents,
  insertIncoming,
  listNumbersOfMessages,
  readWriters,
  type TouchedChat,
  touchChats,
  type Writer,
  writerKeyOf,
} from './incoming-store.ts'
import { isMediaKind } from './kinds.ts'
import { showMedia } from './rules.ts'
import { chatIdOf, groupChatIdOf, holdMediaOfNumbers, messageUse, upsertUsers } from './store.ts'
import { streamMessage } from './stream-events.ts'

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

/** Who writes messages, before they are stored; asked for together with the next statement where that is possible. */
export function readWritersOf(tx: Transaction, arrived: readonly Incoming[]): Promise<ReadonlyMap<string, Writer>> {
  const written = arrived.filter(isOfUser)
  if (written.length === 0) return Promise.resolve(new Map())
  return readWriters(
    tx,
    written.map(({ phone_number_id, message }) => [phone_number_id, message.from]),
  )
}

export type Writers = ReadonlyMap<string, Writer>

/**
 * Stores messages of users in few statements, however many there are, and opens their windows. Returns the messages to raise events
 * for: not those that are stored already, nor those of users whom the number has blocked. A message whose sender cannot be a user is
 * passed on without being stored. Throws when one of them is refused. Which of them are new may be known only when the first statement
 * has been awaited; the database stores no other.
 */
export async function storeIncoming(
  tx: Transaction,
  now: number,
  arrived: readonly Incoming[],
  writers: Writers,
  isNew: (one: Incoming) => boolean,
): Promise<ReadonlySet<IncomingMessage>> {
  const inserted = await insertAll(tx, now, arrived.filter(isOfUser))
  const received = arrived.filter(isNew)
  const heard = new Set(received.filter((one) => !isOfUser(one)).map(({ message }) => message))
  const written = received.filter(isOfUser)
  const isOfNumber = ({ phone_number_id, message }: Incoming) =>
    writers.get(writerKeyOf(phone_number_id, message.from))?.isNumber === true
  if (written.some(isOfNumber)) throw writerIsNumber()
  const fresh = await leaveOutTaken(tx, written, inserted)
  if (fresh.length === 0) return heard
  insertContents(tx, now, await describeContents(tx, now, fresh))
  const chats = new Map<string, TouchedChat>()
  for (const one of fresh) {
    const { phone_number_id, id, message } = one
    const { from, type } = message
    const group_id = readGroup(message)
    const isHeard = group_id !== null || !writers.get(writerKeyOf(phone_number_id, from))?.isBlocked
    if (isHeard) heard.add(message)
    const chat = chatOf(one)
    const opened = isHeard && type !== 'system' ? now : null
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
  return heard
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
  return new Set(inserted.map(({ id, phone_number_id }) => `${phone_number_id} ${id}`))
}

/** The messages that were inserted. An id that a message of another number has is refused. */
async function leaveOutTaken(
  tx: Transaction,
  written: readonly Incoming[],
  inserted: ReadonlySet<string>,
): Promise<Incoming[]> {
  const isStored = ({ phone_number_id, id }: Incoming) => inserted.has(`${phone_number_id} ${id}`)
  const known = written.filter((one) => !isStored(one))
  if (known.length > 0) {
    const numbers = await listNumbersOfMessages(
      tx,
      known.map(({ id }) => id),
    )
    if (known.some(({ phone_number_id, id }) => numbers.get(id) !== phone_number_id)) {
      throw incomingIdTaken()
    }
  }
  return written.filter(isStored)
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

async function describeContents(tx: Transaction, now: number, fresh: readonly Incoming[]) {
  const wanted = fresh.flatMap(({ phone_number_id, message }) => {
    const media_id = readMediaId(message)
    return media_id === undefined ? [] : [{ phone_number_id, media_id }]
  })
  const files = new Map(
    (await holdMediaOfNumbers(tx, wanted, now)).map((file) => [`${file.phone_number_id} ${file.id}`, file]),
  )
  return fresh.map((one) => {
    const { phone_number_id, id, message } = one
    const media = files.get(`${phone_number_id} ${readMediaId(message)}`)
    if (media) useFile(tx, media.sha256, messageUse(id))
    return { message_id: id, content: writeContent(one, media), sha256: media?.sha256 ?? null }
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
