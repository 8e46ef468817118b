import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import type { Db, Transaction } from '../../db/database.ts'
import type { ChatsTable } from '../../db/tables.ts'
import { conversations } from '../../delivery/raise/conversation.ts'
import { raiseEvent } from '../../delivery/raise/outbox.ts'
import type { GatewayContext } from '../../graph/context.ts'
import { defineGatewayRead, defineGatewayWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import { type ListOptions, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { idSchema, successSchema } from '../../graph/schemas.ts'
import type { Settings } from '../../graph/settings.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { userWaIdSchema } from '../calls/schemas.ts'
import { comeOnline, endWaiting, isWindowOpen, nameOf, writeSeconds } from '../messages/public.ts'
import { chatIdOf, findPerson, type Person, takeChat, updateChat } from '../messages/store.ts'
import { requireChat, requireNumber } from './chat.ts'
import { messageDownloads } from './download.ts'
import { numberIsNoUser } from './errors.ts'
import { userMessageOperations } from './message-operations.ts'
import { makeChatSchema, makeMessageSchema, marketingSchema, settingsSchema, userSchema } from './schemas.ts'
import { showMessages, showTools } from './show.ts'
import {
  countUnread,
  countUnreadInGroups,
  listAccountsOfUserForGateway,
  listChatsForGateway,
  listMessages,
  listMessagesOfChat,
  listNumbersForGateway,
  listSubjectsForGateway,
  upsertUser,
} from './store.ts'
import { streamOperations } from './stream.ts'
import { type ListedUser, listUsersForGateway, scanUsers, userList } from './user-list.ts'
import { waitOperations } from './wait.ts'
import { usersWorld } from './world.ts'

export const usersChapter: Chapter = {
  name: 'users',
  title: "The users' side",
  rows: (vocabulary) => [
    ...userOperations(vocabulary),
    ...userMessageOperations(vocabulary),
    ...messageDownloads(),
    ...streamOperations(),
    ...waitOperations(vocabulary),
  ],
  world: usersWorld,
}

const exampleUser = '16505551234'
const exampleUserShown = {
  wa_id: exampleUser,
  name: 'Ada',
  presence: 'online' as const,
  auto_read: false,
  read_receipts: true,
  reachable: true,
}

const chatList: ListOptions = {
  maxLimit: 100,
  idColumn: 'id',
  sorts: { newest: { column: 'last_time', direction: 'desc' } },
  defaultSort: 'newest',
  sortable: false,
}

const messageList: ListOptions = { ...chatList, sorts: { newest: { column: 'position', direction: 'desc' } } }

function userOperations(vocabulary: Vocabulary): NewOperation[] {
  return [
    defineGatewayRead({
      name: 'gateway.list_users',
      method: 'GET',
      path: '/gateway/users',
      sentence: 'Lists the users who have a chat, a name or settings, in the order of their numbers.',
      list: userList,
      input: Type.Object({
        q: Type.Optional(
          Type.String({ minLength: 1, maxLength: 100, description: 'Only those whose name or number has this part.' }),
        ),
      }),
      output: Type.Object({ data: Type.Array(userSchema), paging: pagingSchema }),
      examples: {
        input: { q: 'Ada', limit: 1 },
        output: { data: [exampleUserShown], paging: { cursors: {} } },
      },
      async run({ db, caller, page, settings }, { q }) {
        const filter = { q, accounts: caller.gateway_accounts }
        return page.fetch(
          ({ position }) => listUsersForGateway(db, filter, position),
          (user) => showUser(user, settings),
          scanUsers(db, filter),
        )
      },
    }),
    defineGatewayRead({
      name: 'gateway.read_user',
      method: 'GET',
      path: '/gateway/users/{wa_id}',
      sentence: "Reads the settings of a user's phone; an unknown user has the defaults.",
      input: Type.Object({ wa_id: userWaIdSchema }),
      output: userSchema,
      examples: {
        input: { wa_id: exampleUser },
        output: exampleUserShown,
      },
      run: async (context, { wa_id }) => showUser({ ...(await requireUser(context, wa_id)), wa_id }, context.settings),
    }),
    defineGatewayWrite({
      name: 'gateway.set_user',
      method: 'POST',
      path: '/gateway/users/{wa_id}',
      sentence: "Changes the settings of a user's phone; going online delivers waiting messages, oldest first.",
      input: Type.Object({ wa_id: userWaIdSchema, ...settingsSchema }),
      output: successSchema,
      examples: { input: { wa_id: exampleUser, presence: 'online' }, output: { success: true } },
      async run(context, { wa_id, ...changes }) {
        const { db } = context
        const before = await requireUser(context, wa_id)
        await upsertUser(db, wa_id, changes)
        if (changes.presence === 'online') await comeOnline(db, context, before)
        return { success: true }
      },
    }),
    defineGatewayRead({
      name: 'gateway.list_chats',
      method: 'GET',
      path: '/gateway/users/{wa_id}/chats',
      sentence: 'Lists the chats of a user with phone numbers and in groups, the latest first.',
      list: chatList,
      input: Type.Object({ wa_id: userWaIdSchema }),
      output: Type.Object({ data: Type.Array(makeChatSchema(vocabulary)), paging: pagingSchema }),
      examples: { input: { wa_id: exampleUser }, output: { data: [], paging: { cursors: {} } } },
      async run(context, { wa_id }) {
        await requireUser(context, wa_id)
        const { db, caller, page } = context
        return page.fetch(
          async (range) =>
            describeChats(context, wa_id, await listChatsForGateway(db, wa_id, caller.gateway_accounts, range)),
          ({ shown }) => shown,
        )
      },
    }),
    defineGatewayWrite({
      name: 'gateway.set_chat',
      method: 'POST',
      path: '/gateway/users/{wa_id}/chats/{phone_number_id}',
      sentence: 'Lets a user block a phone number, or stop and resume its marketing messages.',
      input: Type.Object({
        wa_id: userWaIdSchema,
        phone_number_id: idSchema({ description: 'The phone number of the business.' }),
        blocked: Type.Optional(Type.Boolean({ description: 'Whether the user has blocked the phone number.' })),
        marketing: Type.Optional(marketingSchema),
      }),
      output: successSchema,
      examples: {
        input: { wa_id: exampleUser, phone_number_id: '4000000000000001', marketing: 'stop' },
        output: { success: true },
      },
      async run(context, { wa_id, phone_number_id, blocked, marketing }) {
        const { db, clock } = context
        const number = await requireNumber(context, phone_number_id)
        const person = await findPerson(db, number.id, wa_id)
        if (person.isNumber) throw numberIsNoUser()
        const id = chatIdOf(number.id, wa_id)
        const before = await takeChat(db, { id, phone_number_id: number.id, user_wa_id: wa_id })
        await updateChat(db, id, { blocked: blocked ?? before.blocked, marketing: marketing ?? before.marketing })
        if (before.blocked && blocked === false) endWaiting(db, id, clock.now())
        if (marketing !== undefined && marketing !== before.marketing) {
          await raisePreference(context, number, person, marketing)
        }
        return { success: true }
      },
    }),
    defineGatewayRead({
      name: 'gateway.list_messages',
      method: 'GET',
      path: '/gateway/users/{wa_id}/messages',
      sentence: 'Lists the messages of a user with a phone number or in a group, the latest first.',
      list: messageList,
      input: Type.Object({
        wa_id: userWaIdSchema,
        phone_number_id: Type.Optional(idSchema({ description: 'The messages with this phone number.' })),
        group_id: Type.Optional(idSchema({ description: 'The messages in this group.' })),
      }),
      output: Type.Object({ data: Type.Array(makeMessageSchema(vocabulary)), paging: pagingSchema }),
      examples: {
        input: { wa_id: exampleUser, phone_number_id: '4000000000000001' },
        output: { data: [], paging: { cursors: {} } },
      },
      async run(context, { wa_id, phone_number_id, group_id }) {
        const { db, page } = context
        const { chat_id, number } = await requireChat(context, { wa_id, phone_number_id, group_id })
        const tools = showTools(context, () => number.phone_number)
        return page.fetch(
          async (range) => {
            const rows = await listMessagesOfChat(db, chat_id, range)
            const shown = await showMessages(db, tools, rows)
            return rows.map((row, index) => ({ ...row, shown: shown[index] ?? {} }))
          },
          ({ shown }) => shown,
        )
      },
    }),
  ]
}

/** A token that is limited to accounts sees the users alone who have to do with them. */
function showUser(user: ListedUser, { usersPresence }: Pick<Settings, 'usersPresence'>) {
  const { wa_id, name, presence, auto_read, read_receipts, reachable } = user
  return {
    wa_id,
    ...(name !== null && { name }),
    presence: presence ?? usersPresence,
    auto_read: auto_read ?? false,
    read_receipts: read_receipts ?? true,
    reachable: reachable ?? true,
  }
}

async function requireUser({ db, caller, sees }: GatewayContext, wa_id: string): Promise<Person> {
  if (caller.gateway_accounts !== undefined && !(await listAccountsOfUserForGateway(db, wa_id)).some(sees)) {
    throw notFound()
  }
  const person = await findPerson(db, '', wa_id)
  if (person.isNumber) throw numberIsNoUser()
  return person
}

async function describeChats(context: GatewayContext<Db>, wa_id: string, chats: readonly ChatsTable[]) {
  const { db, clock, settings } = context
  const now = clock.now()
  const rows = await listNumbersForGateway(db, [...new Set(chats.map(({ phone_number_id }) => phone_number_id))])
  const numbers = new Map(rows.map((row) => [row.id, row]))
  const groups = chats.flatMap(({ group_id }) => (group_id === null ? [] : [group_id]))
  const subjects = new Map((await listSubjectsForGateway(db, groups)).map(({ id, subject }) => [id, subject]))
  const unread = await countUnread(
    db,
    chats.map(({ id }) => id),
  )
  const ofGroups = chats.filter(({ group_id }) => group_id !== null).map(({ id }) => id)
  const unreadInGroups = await countUnreadInGroups(db, ofGroups, wa_id)
  const last = chats.flatMap(({ last_message_id }) => (last_message_id === null ? [] : [last_message_id]))
  const digitsOf = (id: string) => numbers.get(id)?.display_phone_number.replaceAll(/\D/g, '') ?? ''
  const shown = await showMessages(db, showTools(context, digitsOf), await listMessages(db, last))
  const messages = new Map(shown.map((message) => [message['id'], message]))
  return chats.map((chat) => {
    const { id, last_time, phone_number_id, group_id, window_time, blocked, marketing, typing_until } = chat
    const number = numbers.get(phone_number_id)
    const last_message = chat.last_message_id === null ? undefined : messages.get(chat.last_message_id)
    return {
      id,
      last_time,
      shown: {
        phone_number_id,
        display_phone_number: number?.display_phone_number ?? '',
        verified_name: number?.verified_name ?? '',
        ...(group_id !== null && { group_id, subject: subjects.get(group_id) ?? '' }),
        ...(last_message && { last_message }),
        unread_count: (group_id === null ? unread : unreadInGroups).get(id) ?? 0,
        ...(window_time !== null &&
          isWindowOpen(chat, settings, now) && {
            window_expires_at: writeSeconds(window_time + settings.serviceWindow),
          }),
        blocked,
        marketing,
        ...(typing_until > now && { typing_until: writeSeconds(typing_until) }),
      },
    }
  })
}

/** Tells that a user stopped or resumed the marketing messages of a number. */
async function raisePreference(
  { db, clock, vocabulary }: GatewayContext<Transaction>,
  { id, account_id, phone_number }: { id: string; account_id: string; phone_number: string },
  person: { wa_id: string; name: string | null },
  value: 'stop' | 'resume',
): Promise<void> {
  const detail = `User requested to ${value} marketing messages`
  const timestamp = writeSeconds(clock.now())
  const { wa_id } = person
  await raiseEvent(db, clock, {
    account_id,
    phone_number_id: id,
    field: 'user_preferences',
    conversation: conversations.user(id, wa_id),
    value: {
      messaging_product: vocabulary.product,
      metadata: { display_phone_number: phone_number, phone_number_id: id },
      contacts: [{ profile: { name: nameOf(person) }, wa_id }],
      user_preferences: [{ wa_id, detail, category: 'marketing_messages', value, timestamp }],
    },
  })
}
