import type { Db } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { StoredMessage } from '../messages/store.ts'

export type UsersMessage = Pick<StoredMessage, 'position' | 'id' | 'direction'>

/** The chats where a user may have written: the user's own, and those of all groups, because users leave groups. */
export async function listChatsOfUserForOperators({ query }: Db, wa_id: string): Promise<string[]> {
  const chats = await query
    .selectFrom('chats')
    .select('id')
    .where((eb) => eb.or([eb('user_wa_id', '=', wa_id), eb('group_id', 'is not', null)]))
    .execute()
  return chats.map(({ id }) => id)
}

const selectMessages = defineStatement<{ chat_id: string; wa_id: string; after: number; limit: number }>()(
  (db, { chat_id, wa_id, after, limit }) =>
    db
      .selectFrom('messages')
      .select(['position', 'id', 'direction'])
      .where('chat_id', '=', chat_id)
      .where('position', '>', after)
      .where('user_wa_id', '=', wa_id)
      .orderBy('position')
      .limit(limit),
)

/** The messages of a chat to and from a user; in a group those that the user wrote. */
export async function listMessagesOfUser(
  db: Db,
  asked: { chat_id: string; wa_id: string; after: number; limit: number },
): Promise<UsersMessage[]> {
  return db.list(selectMessages, asked)
}
