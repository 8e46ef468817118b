import type { Chat } from '../../data/phone/chat.ts'
import { type ChatKey, toKey } from '../../data/phone/chat-key.ts'

/** Whose phones are shown when the address names none: the user of the demo world, and another. */
const firstPhones = ['16505551234', '16505550123']

/** The numbers in the address, so that a link opens the same phones. */
export function readPhones(query: URLSearchParams): readonly string[] {
  const named = query.get('phones')
  if (named === null) return firstPhones
  return [...new Set(named.split(','))].filter((one) => /^\d{1,20}$/.test(one))
}

/** The open chats in the address, by phone: `16505551234:4000000000000001`, where the second is the id of a number or of a group. */
export function readChats(query: URLSearchParams): ReadonlyMap<string, string> {
  const pairs = (query.get('chats') ?? '').split(',').map((one) => one.split(':'))
  return new Map(
    pairs.flatMap(([phone = '', id = '']) => (/^\d+$/.test(phone) && /^\d+$/.test(id) ? [[phone, id]] : [])),
  )
}

export function writeChats(open: readonly (readonly [phone: string, key: ChatKey | undefined])[]): string {
  return open.flatMap(([phone, key]) => (key ? [`${phone}:${key.group_id ?? key.phone_number_id}`] : [])).join(',')
}

/** The chat that an id of the address means, among those of a phone. */
export function findKey(chats: readonly Chat[], id: string): ChatKey {
  const group = chats.find(({ group_id }) => group_id === id)
  return group ? toKey(group) : { phone_number_id: id }
}
