import { type Static, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import type { ChatsTable, UsersTable } from '../../db/tables.ts'
import { inBatches } from '../../world-part/batches.ts'
import { pickGiven, unlessEmpty, type Whole, withoutGaps } from '../../world-part/entries.ts'
import { defineWorldPart, type Entry, exportRows, exportValue, type WriteContext } from '../../world-part/part.ts'
import { Repeats } from '../../world-part/problems.ts'
import { readRows, upsertChanged } from '../../world-part/rows.ts'
import { idSchema } from '../../world-part/schemas.ts'
import { userWaIdSchema } from '../calls/schemas.ts'
import { groupEntries } from '../groups/world.ts'
import { chatIdOf, emptyChat } from '../messages/store.ts'
import { numberEntries } from '../phone-numbers/world.ts'
import { marketingSchema, presences } from './schemas.ts'

const optional = Type.Optional

/** Opens a window that was never open at the time of applying: for worlds to try things out in. */
const openedNow = 'now'

const chatSchema = Type.Object({
  phone_number_id: idSchema,
  window_opened_at: optional(
    Type.Union([Type.String({ format: 'date-time', maxLength: 40 }), Type.Literal(openedNow)], {
      'x-expects': 'a time such as 2026-01-31T12:00:00Z, or now',
    }),
  ),
  blocked: optional(Type.Boolean()),
  marketing: optional(marketingSchema),
})

const schema = Type.Object({
  wa_id: userWaIdSchema,
  name: optional(Type.String({ minLength: 1, maxLength: 256 })),
  presence: optional(Type.Enum(presences)),
  auto_read: optional(Type.Boolean()),
  read_receipts: optional(Type.Boolean()),
  reachable: optional(Type.Boolean()),
  chats: optional(Type.Array(chatSchema)),
})
type GivenChat = Static<typeof chatSchema>

/** What the phones of users are set to, and their chats with numbers. */
const userEntries = defineWorldPart({
  key: 'users',
  form: 'list',
  schema,
  *references({ given, place }) {
    for (const [index, { phone_number_id }] of (given.chats ?? []).entries()) {
      yield { place: `${place}.chats[${index}].phone_number_id`, id: phone_number_id, kind: 'phone_number' }
    }
  },
  checkFile(problems) {
    const known = new Repeats(problems)
    const pairs = new Repeats(problems)
    return ({ given, place }) => {
      known.note(given.wa_id, `${place}.wa_id`, 'that user')
      for (const [index, { phone_number_id }] of (given.chats ?? []).entries()) {
        pairs.note(`${given.wa_id} ${phone_number_id}`, `${place}.chats[${index}]`, 'that user and phone number')
      }
    }
  },
  async checkStore(users, { now, problems }) {
    for (const { given, place } of users) {
      for (const [index, { window_opened_at }] of (given.chats ?? []).entries()) {
        const time = window_opened_at === undefined ? undefined : timeOf(window_opened_at)
        if (time === undefined || time <= now) continue
        const at = `${place}.chats[${index}].window_opened_at`
        problems.add(at, 'it lies in the future; give the time when the user last wrote or called, or now.')
      }
    }
  },
  async write(users, context) {
    await upsertChanged(
      context,
      {
        table: 'users',
        key: ['wa_id'],
        keyOf: ({ given }) => [given.wa_id],
        create: ({ given: { wa_id, name = null, presence = null, ...rest } }): UsersTable => ({
          wa_id,
          name,
          presence,
          auto_read: rest.auto_read ?? false,
          read_receipts: rest.read_receipts ?? true,
          reachable: rest.reachable ?? true,
        }),
        change: ({ given: { name, presence, auto_read, read_receipts, reachable } }) =>
          pickGiven({ name, presence, auto_read, read_receipts, reachable }),
      },
      users,
    )
    await writeChats(
      users.flatMap(({ given }) => (given.chats ?? []).map((chat) => ({ ...chat, user_wa_id: given.wa_id }))),
      context,
    )
  },
  export: exportRows({ table: 'users', key: ['wa_id'], toEntries: describeUsers }),
})

type ChatOfFile = GivenChat & { readonly user_wa_id: string }

/** The time of a window, unless it is opened now. */
function timeOf(window_opened_at: string): number | undefined {
  return window_opened_at === openedNow ? undefined : Date.parse(window_opened_at)
}

async function writeChats(chats: readonly ChatOfFile[], context: WriteContext): Promise<void> {
  const openedAt = ({ window_opened_at }: ChatOfFile) =>
    window_opened_at === undefined ? undefined : timeOf(window_opened_at)
  await upsertChanged(
    context,
    {
      table: 'chats',
      key: ['id'],
      keyOf: ({ phone_number_id, user_wa_id }) => [chatIdOf(phone_number_id, user_wa_id)],
      nodeOf: ({ phone_number_id }) => phone_number_id,
      create: (chat): ChatsTable => ({
        ...emptyChat,
        id: chatIdOf(chat.phone_number_id, chat.user_wa_id),
        phone_number_id: chat.phone_number_id,
        user_wa_id: chat.user_wa_id,
        window_time: openedAt(chat) ?? (chat.window_opened_at === openedNow ? context.now : null),
        blocked: chat.blocked ?? false,
        marketing: chat.marketing ?? 'resume',
        last_time: context.now,
      }),
      change: (chat, stored) => {
        const opened = chat.window_opened_at === openedNow && stored.window_time === null ? context.now : openedAt(chat)
        return pickGiven({ window_time: opened, blocked: chat.blocked, marketing: chat.marketing })
      },
    },
    chats,
  )
}

async function describeUsers(users: readonly UsersTable[], db: Db): Promise<object[]> {
  const ids = users.map(({ wa_id }) => wa_id)
  const rows = await db.query
    .selectFrom('chats')
    .select(['user_wa_id', 'phone_number_id', 'window_time', 'blocked', 'marketing'])
    .where('user_wa_id', 'in', ['', ...ids])
    .orderBy('phone_number_id')
    .execute()
  const chats = Map.groupBy(rows, ({ user_wa_id }) => user_wa_id ?? '')
  return users.map(({ wa_id, name, presence, auto_read, read_receipts, reachable }) =>
    withoutGaps<Whole<Static<typeof schema>>>({
      wa_id,
      name,
      presence,
      auto_read,
      read_receipts,
      reachable,
      chats: unlessEmpty((chats.get(wa_id) ?? []).map(describeChat)),
    }),
  )
}

function describeChat({
  phone_number_id,
  window_time,
  blocked,
  marketing,
}: Pick<ChatsTable, 'phone_number_id' | 'window_time' | 'blocked' | 'marketing'>): object {
  return withoutGaps<Whole<GivenChat>>({
    phone_number_id,
    window_opened_at: window_time === null ? null : new Date(window_time).toISOString(),
    blocked,
    marketing,
  })
}

interface Pair {
  readonly phone_number_id: string
  readonly user_wa_id: string
}

/** The block list of a number: exactly these. */
const blockedEntry = defineWorldPart({
  key: 'blocked_users',
  form: 'value',
  under: numberEntries,
  schema: Type.Array(userWaIdSchema),
  async write(lists, context) {
    await unblockOthers(lists, context)
    const pairs: Pair[] = lists.flatMap(({ given, parent }) =>
      [...new Set(given)].map((user_wa_id) => ({ phone_number_id: parent.given.id, user_wa_id })),
    )
    await upsertChanged(
      context,
      {
        table: 'blocked_users',
        key: ['phone_number_id', 'user_wa_id'],
        keyOf: ({ phone_number_id, user_wa_id }) => [phone_number_id, user_wa_id],
        nodeOf: ({ phone_number_id }) => phone_number_id,
        create: (pair) => ({ ...pair, created_time: context.now }),
        change: () => ({}),
      },
      pairs,
    )
  },
  export: exportValue({
    table: 'blocked_users',
    of: 'phone_number_id',
    order: ['user_wa_id'],
    toValue: (rows) => unlessEmpty(rows.map(({ user_wa_id }) => user_wa_id)),
  }),
})

async function unblockOthers(
  lists: readonly Entry<readonly string[], Entry<{ readonly id: string }>>[],
  { tx, tally, knownNodes }: WriteContext,
): Promise<void> {
  const wanted = new Map(lists.map(({ given, parent }) => [parent.given.id, new Set(given)]))
  const known = [...wanted.keys()].filter((id) => knownNodes.has(id))
  const former: Pair[] = []
  for await (const pair of readRows(tx, 'blocked_users', 'phone_number_id', ['phone_number_id', 'user_wa_id'], known)) {
    if (!wanted.get(pair.phone_number_id)?.has(pair.user_wa_id)) former.push(pair)
  }
  for await (const batch of inBatches(former)) {
    for (const { phone_number_id, user_wa_id } of batch) {
      await tx.query
        .deleteFrom('blocked_users')
        .where('phone_number_id', '=', phone_number_id)
        .where('user_wa_id', '=', user_wa_id)
        .execute()
    }
  }
  tally.updated += former.length
}

/** Who is in a group. */
const participantEntries = defineWorldPart({
  key: 'participants',
  form: 'list',
  under: groupEntries,
  schema: Type.Object({ wa_id: userWaIdSchema, name: optional(Type.String({ minLength: 1, maxLength: 256 })) }),
  checkFile(problems) {
    const pairs = new Repeats(problems)
    return ({ given, parent, place }) => {
      pairs.note(`${parent.given.id} ${given.wa_id}`, place, 'that group and user')
    }
  },
  write: (participants, context) =>
    upsertChanged(
      context,
      {
        table: 'group_participants',
        key: ['group_id', 'user_wa_id'],
        keyOf: ({ given, parent }) => [parent.given.id, given.wa_id],
        nodeOf: ({ parent }) => parent.given.id,
        create: ({ given, parent }) => ({
          group_id: parent.given.id,
          user_wa_id: given.wa_id,
          name: given.name ?? null,
          joined_time: context.now,
        }),
        change: ({ given: { name } }) => pickGiven({ name }),
      },
      participants,
    ),
})

export const usersWorld = [userEntries, blockedEntry, participantEntries]
