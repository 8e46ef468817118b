import { hash } from 'node:crypto'
import type { Clock } from '../../../base/time/clock.ts'
import { YieldingTask } from '../../../base/work/yielding-task.ts'
import type { Transaction } from '../../../db/database.ts'
import type { MediaTable } from '../../../db/tables.ts'
import type { NewEvent } from '../../../delivery/raise/new-event.ts'
import { raiseEvents } from '../../../delivery/raise/outbox.ts'
import type { GraphError } from '../../../graph/graph-error.ts'
import {
  type Incoming,
  type IncomingMessage,
  listNumbersOfMessages,
  type MediaOfMessages,
  type ReportTools,
  readWritersOf,
  type StoredIncoming,
  storeIncoming,
  takeHandedStatus,
} from '../../messages/public.ts'
import type { ChangeValue, ReportedStatus } from './envelope.ts'
import { defaultField } from './envelope-schemas.ts'
import type { KnownNumbers } from './known-numbers.ts'
import type { Receipt, Received, RefusedMessage } from './post.ts'
import { checkPost, findFacts, type GivenChange } from './post-check.ts'
import { type Additions, addPublicMembers } from './public-members.ts'
import { forgetReceived, type ReceivedKey, rememberReceived } from './receiver-store.ts'
import { splitChange } from './split-change.ts'

export interface InboundTools extends ReportTools {
  readonly sealLink: (path: string) => string
}

/** The result of one post: an error refuses only that post. */
export interface Progress {
  readonly receipt: Receipt
  refusal: GraphError | undefined
  /** Messages of it that are not taken, each for its own fault, while the others are. */
  refused: readonly RefusedMessage[]
  changes: readonly GivenChange[]
  readonly fields: string[]
}

/** How many items go into one statement. */
const batchSize = 100

/**
 * Stores posts in one transaction, all changes of each or none, with as many statements as for one post. It looks up what they name,
 * drops duplicates of earlier posts, stores what users wrote, then raises the events in the order of the posts. A message that is
 * refused refuses its post only when there is nothing else in it.
 */
export async function receivePosts(
  tx: Transaction,
  tools: InboundTools,
  receipts: readonly Receipt[],
  known?: KnownNumbers,
): Promise<(Received | GraphError)[]> {
  const { clock } = tools
  const task = new YieldingTask()
  const facts = await findFacts(tx, receipts, known)
  const posts = receipts.map((receipt): Progress => {
    const checked = checkPost(receipt, facts)
    const [refusal, changes] = checked instanceof Error ? [checked, []] : [undefined, checked]
    return { receipt, refusal, refused: [], changes, fields: [] }
  })
  await leaveOutKnownPosts(tx, clock, posts)
  await task.yieldIfDue()
  const media = await leaveOutKnownItems(tx, tools, posts, task)
  const { userIds, sealLink, vocabulary } = tools
  await raiseAll(tx, clock, posts, task, {
    userIds,
    media: vocabulary.habits.webhook_media_urls ? media : undefined,
    sealLink,
  })
  return posts.map(({ refusal, refused, fields }) => refusal ?? { fields, refused })
}

function keysOf({ receipt: { signer } }: Progress): ReceivedKey[] {
  return (signer?.digests ?? []).map((digest): ReceivedKey => [signer?.app_id ?? '', digest])
}

async function leaveOutKnownPosts(tx: Transaction, clock: Clock, posts: readonly Progress[]): Promise<void> {
  const signed = posts.filter(({ receipt, refusal }) => receipt.signer && !refusal)
  if (signed.length === 0) return
  const fresh = new NewKeys(await rememberReceived(tx, 'posts', signed.flatMap(keysOf), clock.now()))
  for (const post of signed) {
    const [isNew] = keysOf(post).map((key) => fresh.claim(key))
    if (!isNew) post.changes = []
  }
}

/** A change with its items that have ids. */
export interface Items {
  readonly change: GivenChange
  readonly messages: { readonly item: IncomingMessage; readonly key: ReceivedKey }[]
  statuses: { readonly item: ReportedStatus; readonly key: ReceivedKey }[]
  readonly write: Receipt['write']
}

/**
 * Removes duplicates from the changes, and what no app is notified of, and changes that become empty. Returns the media files of messages
 * that were stored.
 */
async function leaveOutKnownItems(
  tx: Transaction,
  tools: ReportTools,
  posts: readonly Progress[],
  task: YieldingTask,
): Promise<MediaOfMessages> {
  const items = new Map<GivenChange, Items>()
  for (const { changes, receipt } of posts) {
    for (const change of changes) {
      await task.yieldIfDue()
      if (change.field !== defaultField || change.phone_number_id === null) continue
      items.set(change, listItems(change, receipt.write))
    }
  }
  const listed = [...items.values()]
  const { notified, refused, media } = await storeMessages(tx, tools.clock, listed, task)
  await takeStatuses(tx, tools, listed, task)
  const statuses = await rememberStatuses(tx, tools.clock, listed, task)
  for (const post of posts) {
    noteRefused(post, items, refused)
    if (post.refused.length > 0 && post.refusal) await forgetReceived(tx, 'posts', keysOf(post))
    post.changes = post.changes.flatMap((change) => {
      const of = items.get(change)
      if (!of) return [change]
      const value = keepItems(
        change.value,
        of.messages.filter(({ item }) => notified.has(item)).map(({ item }) => item),
        of.statuses.filter(({ key }) => statuses.claim(key)).map(({ item }) => item),
      )
      return value ? [{ ...change, value }] : []
    })
  }
  return media
}

/** When nothing of a post is left, the post itself is refused, as a single message is. */
function noteRefused(
  post: Progress,
  items: ReadonlyMap<GivenChange, Items>,
  refused: ReadonlyMap<IncomingMessage, GraphError>,
): void {
  if (refused.size === 0) return
  const counted = post.changes.map((change) => items.get(change))
  const messages = counted.flatMap((of) => of?.messages ?? [])
  post.refused = messages.flatMap(({ item, key: [phone_number_id] }) => {
    const error = refused.get(item)
    return error ? [{ id: item.id, phone_number_id, error }] : []
  })
  const hasMore = counted.some((of) => !of || of.statuses.length > 0) || messages.length > post.refused.length
  if (!hasMore) post.refusal = post.refused[0]?.error
}

export function listItems(change: GivenChange, write: Receipt['write']): Items {
  const number = change.phone_number_id ?? ''
  const messages = (change.value.messages ?? []) as readonly IncomingMessage[]
  return {
    change,
    messages: messages.map((item) => ({ item: nameEmoji(item), key: [number, item.id.toWellFormed()] })),
    statuses: (change.value.statuses ?? []).map((item) => ({ item, key: [number, digestOf(item)] })),
    write,
  }
}

/** A reaction without an emoji was taken back, which events say by an empty one. */
function nameEmoji(message: IncomingMessage): IncomingMessage {
  const { type, reaction } = message as { type: string; reaction?: { emoji?: string } }
  if (type !== 'reaction' || !reaction || reaction.emoji !== undefined) return message
  return { ...message, reaction: { ...reaction, emoji: '' } } as IncomingMessage
}

interface Taken {
  /** Those to raise events for. */
  readonly notified: ReadonlySet<IncomingMessage>
  readonly refused: ReadonlyMap<IncomingMessage, GraphError>
  readonly media: MediaOfMessages
}

/** Stores the messages that are new. */
async function storeMessages(
  tx: Transaction,
  clock: Clock,
  listed: readonly Items[],
  task: YieldingTask,
): Promise<Taken> {
  const arrived = listed.flatMap(incomingOf)
  const notified = new Set<IncomingMessage>()
  const refused = new Map<IncomingMessage, GraphError>()
  const media = new Map<IncomingMessage, MediaTable>()
  for (let start = 0; start < arrived.length; start += batchSize) {
    await task.yieldIfDue()
    const batch = await storeBatch(tx, clock, arrived.slice(start, start + batchSize))
    for (const message of batch.notified) notified.add(message)
    for (const [{ message }, error] of batch.refused) refused.set(message, error)
    for (const [message, file] of batch.media) media.set(message, file)
    // What is handed in again when its fault is repaired is new then.
    await forgetReceived(
      tx,
      'messages',
      [...batch.refused.keys()].map(({ phone_number_id, id }): ReceivedKey => [phone_number_id, id]),
    )
  }
  return { notified, refused, media }
}

export function incomingOf({ change, messages, write }: Items): Incoming[] {
  return messages.map(({ item, key: [phone_number_id, id] }) => {
    const name = nameOfWriter(change.value, item.from)
    return { phone_number_id, id, message: item, name, write }
  })
}

async function storeBatch(tx: Transaction, clock: Clock, batch: readonly Incoming[]): Promise<StoredIncoming> {
  const now = clock.now()
  const writers = await readWritersOf(tx, batch)
  const keys = batch.map(({ phone_number_id, id }): ReceivedKey => [phone_number_id, id])
  const fresh = new NewKeys(await rememberReceived(tx, 'messages', keys, now))
  return storeIncoming(
    tx,
    now,
    batch.filter(({ phone_number_id, id }) => fresh.claim([phone_number_id, id])),
    writers,
  )
}

/** The name that the contacts of a value give a user. */
function nameOfWriter(value: ChangeValue, wa_id: string): string | undefined {
  const { contacts } = value as { contacts?: readonly { wa_id?: string; profile: { name: string } }[] }
  return contacts?.find((contact) => contact.wa_id === wa_id)?.profile.name
}

/** Statuses of messages that were sent here follow the rules of those: only what is ahead is raised, by them. */
async function takeStatuses(
  tx: Transaction,
  tools: ReportTools,
  listed: readonly Items[],
  task: YieldingTask,
): Promise<void> {
  const ids = [...new Set(listed.flatMap(({ statuses }) => statuses.map(({ item }) => item.id)))]
  const numbers = new Map<string, string>()
  for (let start = 0; start < ids.length; start += batchSize) {
    await task.yieldIfDue()
    const found = await listNumbersOfMessages(tx, ids.slice(start, start + batchSize).filter(canBeId))
    for (const [id, number] of found) numbers.set(id, number)
  }
  if (numbers.size === 0) return
  for (const items of listed) {
    const others: Items['statuses'] = []
    for (const status of items.statuses) {
      const [phone_number_id] = status.key
      await task.yieldIfDue()
      const isOurs = numbers.get(status.item.id) === phone_number_id
      if (!isOurs || !(await takeHandedStatus(tx, tools, phone_number_id, status.item))) others.push(status)
    }
    items.statuses = others
  }
}

function canBeId(id: string): boolean {
  return id.length <= 1000 && id.isWellFormed() && !id.includes('\0')
}

async function rememberStatuses(
  tx: Transaction,
  clock: Clock,
  items: readonly Items[],
  task: YieldingTask,
): Promise<NewKeys> {
  const keys = items.flatMap(({ statuses }) => statuses.map(({ key }) => key))
  const fresh = new NewKeys([])
  for (let start = 0; start < keys.length; start += batchSize) {
    await task.yieldIfDue()
    fresh.add(await rememberReceived(tx, 'statuses', keys.slice(start, start + batchSize), clock.now()))
  }
  return fresh
}

/** The unknown items: new for the first that has one, known for the others. */
class NewKeys {
  readonly #keys = new Set<string>()

  constructor(keys: readonly ReceivedKey[]) {
    this.add(keys)
  }

  add(keys: readonly ReceivedKey[]): void {
    for (const key of keys) this.#keys.add(key.join(' '))
  }

  claim(key: ReceivedKey): boolean {
    return this.#keys.delete(key.join(' '))
  }
}

function isSame(kept: readonly object[], given: readonly object[] = []): boolean {
  return kept.length === given.length && kept.every((item, index) => item === given[index])
}

/** Undefined when nothing is left to raise. */
export function keepItems(
  value: ChangeValue,
  messages: readonly { readonly id: string }[],
  statuses: readonly ReportedStatus[],
): ChangeValue | undefined {
  const isWhole = isSame(messages, value.messages) && isSame(statuses, value.statuses)
  if (isWhole) return value
  if (messages.length + statuses.length === 0) return undefined
  const { messages: _messages, statuses: _statuses, ...rest } = value
  return { ...rest, ...(messages.length > 0 && { messages }), ...(statuses.length > 0 && { statuses }) }
}

export async function raiseAll(
  tx: Transaction,
  clock: Clock,
  posts: readonly Progress[],
  task: YieldingTask,
  additions: Additions,
): Promise<void> {
  const events: { readonly post: Progress; readonly event: NewEvent }[] = []
  for (const post of posts) {
    for (const change of post.changes) {
      await task.yieldIfDue()
      const { account_id, phone_number_id, field, value } = addPublicMembers(change, additions)
      for (const { conversation, subject_id, value: part } of splitChange(account_id, field, value)) {
        const text = post.receipt.write(part)
        events.push({
          post,
          event: {
            ...{ account_id, phone_number_id, field, conversation, subject_id },
            value: text,
            trace: post.receipt.cause.trace,
            span: post.receipt.cause.span,
          },
        })
      }
    }
  }
  for (let start = 0; start < events.length; start += batchSize) {
    await task.yieldIfDue()
    const batch = events.slice(start, start + batchSize)
    await raiseEvents(
      tx,
      clock,
      batch.map(({ event }) => event),
    )
    for (const { post, event } of batch) post.fields.push(event.field)
  }
}

/** The identity of a status: the message, the status, the time, and the recipient. */
function digestOf({ id, status, timestamp, recipient_id, recipient_participant_id = null }: ReportedStatus): string {
  const facts = [id, status, timestamp, recipient_id, recipient_participant_id]
  return hash('sha256', JSON.stringify(facts), 'base64url')
}
