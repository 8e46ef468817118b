import {
  type GatewayChatsListItem,
  type GatewayMessagesWriteParams,
  gatewayChatsList,
  gatewayMessagesDelete,
  gatewayMessagesDeliver,
  gatewayMessagesFail,
  gatewayMessagesList,
  gatewayMessagesMarkAsRead,
  gatewayMessagesPlay,
  gatewayMessagesPress,
  gatewayMessagesRetrieve,
  gatewayMessagesWrite,
} from '@switchboard/client/methods'
import { client } from '../http.ts'
import { type Message, readMessage } from '../messages.ts'
import { hasArrived } from './arrival.ts'
import type { Chat, WrittenContent } from './chat.ts'
import { type ChatKey, toKey, whereOf } from './chat-key.ts'

const pageOfMessages = 50
const mostChats = 100
/** How far back the last message that has arrived is looked for, for the list of chats. */
const lookedThrough = 25

export interface MessagePage {
  /** The oldest first. */
  readonly messages: readonly Message[]
  /** The cursor of what is older; undefined: there is nothing. */
  readonly older: string | undefined
}

export async function listMessages(
  wa_id: string,
  key: ChatKey,
  { after, limit = pageOfMessages }: { readonly after?: string; readonly limit?: number } = {},
): Promise<MessagePage> {
  const { data, paging } = await gatewayMessagesList(client, wa_id, { ...whereOf(key), limit, after })
  const older = data.length < limit ? undefined : paging?.cursors?.after
  return { messages: data.map(readMessage).toReversed(), older }
}

export async function findMessage(id: string): Promise<Message> {
  return readMessage(await gatewayMessagesRetrieve(client, id))
}

/** The chats of a user, each with the last message that has arrived in place of the last one that was sent. */
export async function listChats(wa_id: string): Promise<readonly Chat[]> {
  const { data } = await gatewayChatsList(client, wa_id, { limit: mostChats })
  return Promise.all(data.map((chat) => showArrived(chat, wa_id)))
}

async function showArrived({ last_message, ...chat }: GatewayChatsListItem, wa_id: string): Promise<Chat> {
  if (!last_message) return chat
  const last = readMessage(last_message)
  if (hasArrived(last, wa_id)) return { ...chat, last_message: last }
  const page = await gatewayMessagesList(client, wa_id, { ...whereOf(toKey(chat)), limit: lookedThrough })
  const found = page.data.map(readMessage).find((message) => hasArrived(message, wa_id))
  return found ? { ...chat, last_message: found } : chat
}

/** Writes as a user. The id is the writer's: a message that is sent again with the same one is taken once. */
export async function writeMessage(wa_id: string, key: ChatKey, id: string, content: WrittenContent): Promise<void> {
  const params = { ...whereOf(key), from: wa_id, id, ...content }
  await gatewayMessagesWrite(client, params as GatewayMessagesWriteParams)
}

/** What a phone does with a message of a business. */
const actions = {
  deliver: gatewayMessagesDeliver,
  read: gatewayMessagesMarkAsRead,
  play: gatewayMessagesPlay,
  fail: gatewayMessagesFail,
  press: gatewayMessagesPress,
}
export type MessageAction = keyof typeof actions | 'delete'

export async function actOnMessage(
  wa_id: string,
  { id, group_id }: Message,
  action: MessageAction,
  more: object = {},
): Promise<void> {
  const who = group_id === undefined ? {} : { user_wa_id: wa_id }
  await (action === 'delete' ? gatewayMessagesDelete(client, id) : actions[action](client, id, { ...who, ...more }))
}
