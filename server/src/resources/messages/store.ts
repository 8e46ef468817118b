import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineSql, defineStatement } from '../../db/statement.ts'
import type {
  AccountsTable,
  ChatsTable,
  MediaTable,
  MessageContentsTable,
  MessageRecipientsTable,
  MessagesTable,
  PhoneNumbersTable,
  Tables,
  UsersTable,
} from '../../db/tables.ts'
import { defineTogether, insertTogether, splitBy } from '../../db/together.ts'
import { releaseFile } from '../../files/files.ts'
import { listStoredUses } from './content/stored-files.ts'

export type StoredMessage = Omit<MessagesTable, 'position'> & { readonly position: number }
export type NewMessage = Omit<MessagesTable, 'position'>

/** The number that a message is on, as far as its events show it. */
export type MessageNumber = Pick<PhoneNumbersTable, 'id' | 'account_id' | 'phone_number'> &
  Pick<AccountsTable, 'business_id'>

export function chatIdOf(phone_number_id: string, user_wa_id: string): string {
  return `${phone_number_id}/${user_wa_id}`
}

export function groupChatIdOf(group_id: string): string {
  return `group/${group_id}`
}

export const emptyChat = {
  user_wa_id: null,
  group_id: null,
  window_time: null,
  blocked: false,
  marketing: 'resume',
  typing_until: 0,
  pair_time: 0,
  template_time: null,
  conversations: {},
  last_message_id: null,
  last_time: 0,
} as const satisfies Omit<ChatsTable, 'id' | 'phone_number_id'>

const findById = defineStatement<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('phone_numbers')
    .innerJoin('accounts', 'accounts.id', 'phone_numbers.account_id')
    .select([
      'phone_numbers.id',
      'phone_numbers.account_id',
      'phone_numbers.phone_number',
      'phone_numbers.registered',
      'phone_numbers.link_status',
      'phone_numbers.connection_status',
      'phone_numbers.calling_enabled',
      'phone_numbers.messaging_limit_tier',
      'accounts.account_review_status',
      'accounts.business_id',
    ])
    .where('phone_numbers.id', '=', id),
)

/** A number as far as sending asks; its id is that of a node which was found visible, or of a message. */
export async function findSender(db: Db, id: string) {
  return toSender(await db.first(findById, { id }), id)
}

function toSender<Row extends object>(row: Row | undefined, id: string): Row {
  if (!row) throw new Error(`the phone number ${id} is missing`)
  return row
}
export type Sender = Awaited<ReturnType<typeof findSender>>

const selectChatForUpdate = defineTogether(
  defineStatement<{ id: string }>()((db, { id }) =>
    db.selectFrom('chats').selectAll().where('id', '=', id).forUpdate(),
  ),
  {
    // In a fixed order, so that transactions cannot deadlock.
    statement: defineSql<{ ids: readonly string[] }>()(
      ({ ids }) => sql<ChatsTable>`SELECT * FROM chats WHERE id = ANY(ARRAY(SELECT json_array_elements_text(${ids})))
        ORDER BY id COLLATE "C" FOR UPDATE`,
    ),
    join: (all) => ({ ids: all.map(({ id }) => id) }),
    split: splitBy('id'),
  },
)

const insertEmptyChat = defineStatement<ChatsTable>()((db, chat) =>
  db
    .insertInto('chats')
    .values({
      id: chat.id,
      phone_number_id: chat.phone_number_id,
      user_wa_id: chat.user_wa_id,
      group_id: chat.group_id,
      window_time: chat.window_time,
      blocked: chat.blocked,
      marketing: chat.marketing,
      typing_until: chat.typing_until,
      pair_time: chat.pair_time,
      template_time: chat.template_time,
      conversations: chat.conversations,
      last_message_id: chat.last_message_id,
      last_time: chat.last_time,
    })
    .onConflict((conflict) => conflict.doNothing()),
)

// In a fixed order, so that transactions cannot deadlock.
const upsertNames = defineSql<{ names: Readonly<Record<string, readonly [name: string | null]>> }>()(
  ({ names }) => sql`
    INSERT INTO users (wa_id, name, auto_read, read_receipts, reachable)
    SELECT o.key, o.value ->> 0, FALSE, TRUE, TRUE FROM json_each(${names}) AS o WHERE TRUE ORDER BY o.key
    ON CONFLICT (wa_id) DO UPDATE SET name = COALESCE(excluded.name, users.name)`,
)

/** Whoever has a chat has a row, so that an export finds both; a name that is null leaves the known one. */
export function upsertUsers(tx: Transaction, names: ReadonlyMap<string, string | null>): void {
  const rows = [...names].map(([wa_id, name]) => [wa_id, [name] as const])
  if (rows.length > 0) tx.run(upsertNames, { names: Object.fromEntries(rows) })
}

/** A chat, held until the transaction ends, so that its messages come one after another; made where there is none yet. */
export async function takeChat(
  tx: Transaction,
  chat: Pick<ChatsTable, 'id' | 'phone_number_id'> & Partial<Pick<ChatsTable, 'user_wa_id' | 'group_id'>>,
): Promise<ChatsTable> {
  const known = await tx.first(selectChatForUpdate, { id: chat.id })
  if (known) return known
  tx.run(insertEmptyChat, { ...emptyChat, ...chat })
  if (chat.user_wa_id != null) upsertUsers(tx, new Map([[chat.user_wa_id, null]]))
  const made = await tx.first(selectChatForUpdate, { id: chat.id })
  if (!made) throw new Error('the chat was not stored')
  return made
}

const selectChat = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('chats').selectAll().where('id', '=', id),
)

export async function findChat(db: Db, id: string): Promise<ChatsTable | undefined> {
  return db.first(selectChat, { id })
}

type SentIn = Pick<ChatsTable, 'id' | 'pair_time' | 'template_time' | 'conversations' | 'last_message_id' | 'last_time'>

const updateChatAfterSending = defineTogether(
  defineStatement<SentIn>()((db, { id, pair_time, template_time, conversations, last_message_id, last_time }) =>
    db
      .updateTable('chats')
      .set({ pair_time, template_time, conversations, last_message_id, last_time, typing_until: 0 })
      .where('id', '=', id),
  ),
  {
    statement: defineSql<{ chats: readonly SentIn[] }>()(
      ({ chats }) => sql`UPDATE chats SET pair_time = given.pair_time, template_time = given.template_time,
          conversations = given.conversations, last_message_id = given.last_message_id, last_time = given.last_time, typing_until = 0
        FROM json_populate_recordset(CAST(NULL AS chats), ${chats}) AS given WHERE chats.id = given.id`,
    ),
    join: (chats) => ({ chats }),
  },
)

/** What sending changes of a chat; it also ends the typing indicator. */
export function noteSent(tx: Transaction, chat: SentIn): void {
  tx.run(updateChatAfterSending, chat)
}

export async function updateChat(tx: Transaction, id: string, changes: Partial<ChatsTable>): Promise<void> {
  await tx.query.updateTable('chats').set(changes).where('id', '=', id).execute()
}

/** A user as sending and receiving ask: settings where there are any, and whose number it is. */
export interface Person {
  readonly wa_id: string
  readonly name: string | null
  readonly presence: UsersTable['presence']
  readonly auto_read: boolean
  readonly read_receipts: boolean
  readonly reachable: boolean
  /** The number has blocked the user. */
  readonly isBlocked: boolean
  /** It is a number of this platform. */
  readonly isNumber: boolean
}

/** A user as far as the phone is concerned. */
export type PhoneUser = Omit<Person, 'reachable' | 'isBlocked' | 'isNumber'>

interface PersonRow extends Pick<UsersTable, 'wa_id' | 'name' | 'presence'> {
  readonly auto_read: boolean | null
  readonly read_receipts: boolean | null
  readonly reachable: boolean | null
  readonly is_blocked: number
  readonly is_number: number
}

type AskedPerson = Readonly<Record<'wa_id' | 'phone_number_id', string>>

const personColumns = sql`asked.wa_id, users.name, users.presence, users.auto_read, users.read_receipts, users.reachable,
  CASE WHEN EXISTS (SELECT 1 FROM blocked_users WHERE blocked_users.phone_number_id = asked.phone_number_id
    AND blocked_users.user_wa_id = asked.wa_id) THEN 1 ELSE 0 END AS is_blocked,
  CASE WHEN EXISTS (SELECT 1 FROM phone_numbers AS others WHERE others.phone_number = asked.wa_id)
    THEN 1 ELSE 0 END AS is_number`

const askFor = ({ wa_id, phone_number_id }: AskedPerson) =>
  sql`(SELECT CAST(${wa_id} AS TEXT) AS wa_id, CAST(${phone_number_id} AS TEXT) AS phone_number_id) AS asked`

const selectPerson = defineSql<AskedPerson>()(
  (asked) => sql<PersonRow>`SELECT ${personColumns} FROM ${askFor(asked)} LEFT JOIN users ON users.wa_id = asked.wa_id`,
)

const selectSides = (asked: RawBuilder<unknown>) => sql<Sender & PersonRow>`
  SELECT numbers.id, numbers.account_id, numbers.phone_number, numbers.registered, numbers.link_status, numbers.connection_status,
    numbers.calling_enabled, numbers.messaging_limit_tier, accounts.account_review_status, accounts.business_id, ${personColumns}
  FROM ${asked} JOIN phone_numbers AS numbers ON numbers.id = asked.phone_number_id
  JOIN accounts ON accounts.id = numbers.account_id LEFT JOIN users ON users.wa_id = asked.wa_id`

const findSides = defineTogether(
  defineSql<AskedPerson>()((asked) => selectSides(askFor(asked))),
  {
    statement: defineSql<{ all: readonly AskedPerson[] }>()(({ all }) =>
      selectSides(sql`json_to_recordset(${all}) AS asked (wa_id TEXT, phone_number_id TEXT)`),
    ),
    mayJoin: (one, other) => one.phone_number_id === other.phone_number_id,
    join: (all) => ({ all }),
    split: splitBy('wa_id'),
  },
)

/** A number that sends, and the user whom it writes to. */
export async function findSenderAndUser(
  db: Db,
  phone_number_id: string,
  wa_id: string,
): Promise<{ readonly sender: Sender; readonly user: Person }> {
  const row = await db.first(findSides, { phone_number_id, wa_id })
  return { sender: toSender(row, phone_number_id), user: toPerson(row, wa_id) }
}

export async function findPerson(db: Db, phone_number_id: string, wa_id: string): Promise<Person> {
  return toPerson(await db.first(selectPerson, { wa_id, phone_number_id }), wa_id)
}

function toPerson(row: PersonRow | undefined, wa_id: string): Person {
  if (!row) throw new Error('a row of one was not found')
  return {
    wa_id,
    name: row.name,
    presence: row.presence,
    auto_read: row.auto_read ?? false,
    read_receipts: row.read_receipts ?? true,
    reachable: row.reachable ?? true,
    isBlocked: row.is_blocked === 1,
    isNumber: row.is_number === 1,
  }
}

const columnsOfMessage = [
  'id',
  'chat_id',
  'phone_number_id',
  'user_wa_id',
  'group_id',
  'direction',
  'type',
  'is_voice',
  'context_id',
  'state',
  'error_code',
  'created_time',
  'sent_time',
  'delivered_time',
  'read_time',
  'played_time',
  'ended_time',
  'expires_time',
  'pricing',
  'choices',
  'biz_opaque_callback_data',
] as const satisfies readonly (keyof NewMessage)[]

const insertNewMessage = defineTogether(
  defineStatement<NewMessage>()((db, message) =>
    db
      .insertInto('messages')
      .values(Object.fromEntries(columnsOfMessage.map((name) => [name, message[name]])) as unknown as NewMessage),
  ),
  insertTogether('messages', columnsOfMessage),
)

export const insertContent = defineTogether(
  defineStatement<MessageContentsTable>()((db, { message_id, content, sha256, created_time, words }) =>
    db.insertInto('message_contents').values({ message_id, content, sha256, created_time, words }),
  ),
  insertTogether('message_contents', ['message_id', 'content', 'sha256', 'created_time', 'words']),
)

/** Stores a message and, in a row of its own, what it says. Its media file's bytes are kept as long as that. */
export function insertMessage(
  tx: Transaction,
  message: NewMessage,
  content: Omit<MessageContentsTable, 'message_id' | 'created_time'>,
): void {
  tx.run(insertNewMessage, message)
  tx.run(insertContent, { ...content, message_id: message.id, created_time: message.created_time })
}

const selectMessage = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('messages').selectAll().where('id', '=', id),
)

/** A message of any number: who asks has to see its account. */
export async function findMessage(db: Db, id: string): Promise<StoredMessage | undefined> {
  return db.first(selectMessage, { id })
}

/**
 * The id under which a message is stored whose own one is taken by somebody else's. Events have the id that was handed in; the
 * business names the message by that, too.
 */
export function ownIdOf(phone_number_id: string, id: string): string {
  return `${id}@${phone_number_id}`
}

/** The message that a business names by the id of its event. */
export async function findMessageOf(db: Db, phone_number_id: string, id: string): Promise<StoredMessage | undefined> {
  return ofNumber(phone_number_id, id, (own) => findMessage(db, own))
}

/** The same, held until the transaction ends. */
export async function lockMessageOf(
  tx: Transaction,
  phone_number_id: string,
  id: string,
): Promise<StoredMessage | undefined> {
  return ofNumber(phone_number_id, id, (own) => lockMessage(tx, own))
}

async function ofNumber(
  phone_number_id: string,
  id: string,
  find: (id: string) => Promise<StoredMessage | undefined>,
): Promise<StoredMessage | undefined> {
  const found = await find(id)
  if (!found || found.phone_number_id === phone_number_id) return found
  return find(ownIdOf(phone_number_id, id))
}

const selectMessageForUpdate = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('messages').selectAll().where('id', '=', id).forUpdate(),
)

/** The same, held until the transaction ends: what is reported of a message comes one after another. */
export async function lockMessage(tx: Transaction, id: string): Promise<StoredMessage | undefined> {
  return tx.first(selectMessageForUpdate, { id })
}

export async function updateMessage(tx: Transaction, id: string, changes: Partial<NewMessage>): Promise<void> {
  await tx.query.updateTable('messages').set(changes).where('id', '=', id).execute()
}

interface PhoneRow extends StoredMessage {
  readonly account_id: string
  readonly business_id: string
  readonly number_phone_number: string
  readonly user_name: string | null
  readonly presence: UsersTable['presence']
  readonly auto_read: boolean | null
  readonly read_receipts: boolean | null
  readonly blocked: boolean | null
}

const selectForPhone = defineStatement<{ id: string; user_wa_id: string }>()((db, { id, user_wa_id }) =>
  db
    .selectFrom('messages')
    .innerJoin('phone_numbers', 'phone_numbers.id', 'messages.phone_number_id')
    .innerJoin('accounts', 'accounts.id', 'phone_numbers.account_id')
    .leftJoin('users', (join) => join.on('users.wa_id', '=', user_wa_id))
    .leftJoin('chats', 'chats.id', 'messages.chat_id')
    .selectAll('messages')
    .select([
      'phone_numbers.account_id',
      'accounts.business_id',
      'phone_numbers.phone_number as number_phone_number',
      'users.name as user_name',
      'users.presence',
      'users.auto_read',
      'users.read_receipts',
      'chats.blocked',
    ])
    .where('messages.id', '=', id)
    .forUpdate('messages'),
)

/** A message with what a user's phone asks before it takes the message on. */
export interface MessageForPhone {
  readonly message: StoredMessage
  readonly number: MessageNumber
  readonly user: PhoneUser
  /** Whether the user has blocked the number; never where the message is a group's. */
  readonly isBlockedByUser: boolean
}

/** The message, held until the transaction ends, and the rest in the same statement. */
export async function lockForPhone(tx: Transaction, id: string, wa_id: string): Promise<MessageForPhone | undefined> {
  const row: PhoneRow | undefined = await tx.first(selectForPhone, { id, user_wa_id: wa_id })
  if (!row) return undefined
  return {
    message: row,
    number: {
      id: row.phone_number_id,
      account_id: row.account_id,
      business_id: row.business_id,
      phone_number: row.number_phone_number,
    },
    user: {
      wa_id,
      name: row.user_name,
      presence: row.presence,
      auto_read: row.auto_read ?? false,
      read_receipts: row.read_receipts ?? true,
    },
    isBlockedByUser: row.group_id === null && row.blocked === true,
  }
}

type Progress = Pick<
  NewMessage,
  'id' | 'state' | 'error_code' | 'sent_time' | 'delivered_time' | 'read_time' | 'played_time' | 'ended_time'
>

const updateStateAndTimes = defineStatement<Progress>()(
  (db, { id, state, error_code, sent_time, delivered_time, read_time, played_time, ended_time }) =>
    db
      .updateTable('messages')
      .set({ state, error_code, sent_time, delivered_time, read_time, played_time, ended_time })
      .where('id', '=', id),
)

/** What has happened to a message that is held. */
export function updateProgress(tx: Transaction, progress: Progress): void {
  tx.run(updateStateAndTimes, progress)
}

const selectContent = defineStatement<{ message_id: string }>()((db, { message_id }) =>
  db
    .selectFrom('message_contents')
    .select(['message_id', 'content', 'sha256', 'created_time'])
    .where('message_id', '=', message_id),
)

export async function findContent(
  db: Db,
  message_id: string,
): Promise<Omit<MessageContentsTable, 'words'> | undefined> {
  return db.first(selectContent, { message_id })
}

/** Takes out what a message says; the bytes of its media file go with their last use. */
export async function deleteContent(
  tx: Transaction,
  tools: { readonly clock: Clock; readonly random: Random },
  message_id: string,
): Promise<void> {
  const gone = await tx.query
    .deleteFrom('message_contents')
    .where('message_id', '=', message_id)
    .returning(['content', 'sha256'])
    .executeTakeFirst()
  if (!gone) return
  const uses = listStoredUses({ ...gone, message_id })
  for (const [used_by, sha256] of uses) await releaseFile(tx, tools, sha256, used_by)
}

const selectRecipient = defineStatement<{ message_id: string; user_wa_id: string }>()(
  (db, { message_id, user_wa_id }) =>
    db
      .selectFrom('message_recipients')
      .selectAll()
      .where('message_id', '=', message_id)
      .where('user_wa_id', '=', user_wa_id)
      .forUpdate(),
)

/** A participant of a group as a message reaches it, held until the transaction ends. */
export async function lockRecipient(
  tx: Transaction,
  message_id: string,
  user_wa_id: string,
): Promise<MessageRecipientsTable | undefined> {
  return tx.first(selectRecipient, { message_id, user_wa_id })
}

export async function updateRecipient(
  tx: Transaction,
  { message_id, user_wa_id }: Pick<MessageRecipientsTable, 'message_id' | 'user_wa_id'>,
  changes: Partial<MessageRecipientsTable>,
): Promise<void> {
  await tx.query
    .updateTable('message_recipients')
    .set(changes)
    .where('message_id', '=', message_id)
    .where('user_wa_id', '=', user_wa_id)
    .execute()
}

const insertNewRecipient = defineStatement<MessageRecipientsTable>()((db, recipient) =>
  db.insertInto('message_recipients').values({
    message_id: recipient.message_id,
    user_wa_id: recipient.user_wa_id,
    state: recipient.state,
    error_code: recipient.error_code,
    delivered_time: recipient.delivered_time,
    read_time: recipient.read_time,
    played_time: recipient.played_time,
    ended_time: recipient.ended_time,
  }),
)

export function insertRecipient(tx: Transaction, recipient: MessageRecipientsTable): void {
  tx.run(insertNewRecipient, recipient)
}

interface MediaPlace {
  readonly id: string
  readonly phone_number_id: string
  readonly now: number
}

function queryMedia(db: Kysely<Tables>, { id, phone_number_id, now }: MediaPlace) {
  return db
    .selectFrom('media')
    .selectAll()
    .where('id', '=', id)
    .where('phone_number_id', '=', phone_number_id)
    .where('expires_time', '>', now)
}

const selectMedia = defineStatement<MediaPlace>()(queryMedia)
const lockMedia = defineStatement<MediaPlace>()((db, place) => queryMedia(db, place).forKeyShare())

/** A media file of a number that has not expired. */
export async function findMediaOfNumber(
  db: Db,
  phone_number_id: string,
  id: string,
  now: number,
): Promise<MediaTable | undefined> {
  return db.first(selectMedia, { id, phone_number_id, now })
}

/** The same, and nobody removes it before the commit. */
export async function holdMediaOfNumber(
  tx: Transaction,
  phone_number_id: string,
  id: string,
  now: number,
): Promise<MediaTable | undefined> {
  return tx.first(lockMedia, { id, phone_number_id, now })
}

/** The same for several numbers, of which each has some of the files. */
export async function holdMediaOfNumbers(
  tx: Transaction,
  wanted: readonly { readonly phone_number_id: string; readonly media_id: string }[],
  now: number,
): Promise<MediaTable[]> {
  if (wanted.length === 0) return []
  const ids = wanted.map(({ media_id }) => media_id)
  const numbers = wanted.map(({ phone_number_id }) => phone_number_id)
  return tx.query
    .selectFrom('media')
    .selectAll()
    .where('id', 'in', ids)
    .where('phone_number_id', 'in', numbers)
    .where('expires_time', '>', now)
    .forKeyShare()
    .execute()
}

const selectGroup = defineStatement<{ id: string; phone_number_id: string }>()((db, { id, phone_number_id }) =>
  db.selectFrom('groups').select(['id', 'subject']).where('id', '=', id).where('phone_number_id', '=', phone_number_id),
)

const selectParticipants = defineStatement<{ group_id: string }>()((db, { group_id }) =>
  db
    .selectFrom('group_participants')
    .select('user_wa_id')
    .where('group_id', '=', group_id)
    .orderBy('joined_time')
    .orderBy('user_wa_id'),
)

/** Who is in a group of a number; undefined where the number has no such group. */
export async function listParticipants(
  db: Db,
  phone_number_id: string,
  group_id: string,
): Promise<string[] | undefined> {
  if (!(await db.first(selectGroup, { id: group_id, phone_number_id }))) return undefined
  return (await db.list(selectParticipants, { group_id })).map(({ user_wa_id }) => user_wa_id)
}

const updateWindow = defineStatement<{ id: string; now: number }>()((db, { id, now }) =>
  db.updateTable('chats').set({ window_time: now }).where('id', '=', id),
)

/** Notes that a user has turned to a number, which may write to the user from then on. */
export async function openWindow(
  tx: Transaction,
  phone_number_id: string,
  user_wa_id: string,
  now: number,
): Promise<void> {
  const { id } = await takeChat(tx, { id: chatIdOf(phone_number_id, user_wa_id), phone_number_id, user_wa_id })
  tx.run(updateWindow, { id, now })
}
