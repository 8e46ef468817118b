import type { GatewayContext } from '../../graph/context.ts'
import { notFound } from '../../graph/errors.ts'
import { findNumberForGateway } from '../calls/store.ts'
import { chatIdOf, findPerson, groupChatIdOf } from '../messages/store.ts'
import { numberIsNoUser, numberOrGroup } from './errors.ts'
import { findGroupForGateway, isInGroup } from './store.ts'

type GatewayNumber = NonNullable<Awaited<ReturnType<typeof findNumberForGateway>>>

/** A chat of a user that the caller may see, with the number that it is on. */
export interface Chat {
  readonly chat_id: string
  readonly number: GatewayNumber
}

interface Asked {
  readonly wa_id: string
  readonly phone_number_id: string | undefined
  readonly group_id: string | undefined
}

/** The chat with a number or of a group; it need not have any messages. */
export async function requireChat(context: GatewayContext, { wa_id, phone_number_id, group_id }: Asked): Promise<Chat> {
  const { db } = context
  if ((phone_number_id === undefined) === (group_id === undefined)) throw numberOrGroup()
  const group = group_id === undefined ? undefined : await findGroupForGateway(db, group_id)
  if (group_id !== undefined && !(group && (await isInGroup(db, group.id, wa_id)))) throw notFound()
  const number = await requireNumber(context, group?.phone_number_id ?? phone_number_id ?? '')
  if ((await findPerson(db, '', wa_id)).isNumber) throw numberIsNoUser()
  return { chat_id: group ? groupChatIdOf(group.id) : chatIdOf(number.id, wa_id), number }
}

export async function requireNumber({ db, sees }: GatewayContext, id: string): Promise<GatewayNumber> {
  const number = await findNumberForGateway(db, id)
  if (!number || !sees(number.account_id)) throw notFound()
  return number
}
