import type { Transaction } from '../../../db/database.ts'
import type { ChatsTable } from '../../../db/tables.ts'
import type { Context } from '../../../graph/context.ts'
import { groupEmpty, groupUnknown } from '../errors.ts'
import { checkSender, checkUser } from '../rules.ts'
import {
  chatIdOf,
  findPerson,
  findSender,
  findSenderAndUser,
  groupChatIdOf,
  listParticipants,
  type Person,
  type Sender,
  takeChat,
} from '../store.ts'
import type { CheckedMessage } from './request.ts'

/** Who gets a message: one user, or those who are in a group at this moment. */
export interface Audience {
  readonly chat: ChatsTable
  readonly sender: Sender
  readonly user: Person | undefined
  readonly participants: readonly Person[]
}

/** Who gets a message of a number that may send to them; throws what refuses it. The chat is held until the transaction ends. */
export async function findAudience(
  { db, node }: Context<Transaction>,
  { to, toGroup }: CheckedMessage,
): Promise<Audience> {
  if (toGroup) {
    const sender = await findSender(db, node.id)
    checkSender(sender)
    const users = await listParticipants(db, node.id, to)
    if (!users) throw groupUnknown()
    if (users.length === 0) throw groupEmpty()
    const chat = await takeChat(db, { id: groupChatIdOf(to), phone_number_id: node.id, group_id: to })
    const participants: Person[] = []
    for (const user of users) participants.push(await findPerson(db, node.id, user))
    return { sender, chat, user: undefined, participants }
  }
  const { sender, user } = await findSenderAndUser(db, node.id, to)
  checkSender(sender)
  checkUser(sender, user)
  const chat = await takeChat(db, { id: chatIdOf(node.id, to), phone_number_id: node.id, user_wa_id: to })
  return { sender, chat, user, participants: [] }
}
