import type { Message } from '../messages.ts'

/** What became of a message, as the stream reports it. */
export interface Status {
  readonly id: string
  readonly status: Message['state']
  readonly timestamp: string
  readonly user_wa_id?: string
}

type Messages = readonly Message[]

/** Adds a message at the end, or puts it in the place of the one with its id. */
export function putMessage(messages: Messages, message: Message): Messages {
  // What happens concerns the newest messages, so that the search begins there.
  const known = messages.findLastIndex(({ id }) => id === message.id)
  return known < 0 ? [...messages, message] : messages.with(known, message)
}

/** Notes a status; of a group, that of another member leaves the state of the message as it is. */
export function putStatus(messages: Messages, { id, status, timestamp, user_wa_id }: Status, wa_id: string): Messages {
  const index = messages.findLastIndex((one) => one.id === id)
  const found = messages[index]
  if (!found) return messages
  const states = [...found.states, { status, timestamp, ...(user_wa_id !== undefined && { user_wa_id }) }]
  const isMine = found.group_id === undefined || user_wa_id === undefined || user_wa_id === wa_id
  return messages.with(index, { ...found, states, ...(isMine && { state: status }) })
}

/** Puts an older page in front, without what is there already. */
export function prependPage(messages: Messages, page: Messages): Messages {
  const known = new Set(messages.map(({ id }) => id))
  return [...page.filter(({ id }) => !known.has(id)), ...messages]
}

/**
 * Puts the newest page in the place of what is known of it. `joins`: the page reaches back to what is known, so that older messages
 * stay. What the phone has written and the service does not have yet stays at the end.
 */
export function refresh(
  messages: Messages,
  page: Messages,
  isUnsent: (id: string) => boolean,
): { readonly messages: Messages; readonly joins: boolean } {
  const first = page[0]
  const start = first ? messages.findIndex(({ id }) => id === first.id) : -1
  const inPage = new Set(page.map(({ id }) => id))
  const unsent = messages.filter(({ id }) => isUnsent(id) && !inPage.has(id))
  const older = start < 0 ? [] : messages.slice(0, start)
  return { messages: [...older, ...page, ...unsent], joins: start >= 0 }
}

/**
 * The same list as before when a user sees no difference: that a message of the business was read changes nothing on the phone, and
 * nothing has to be drawn again for it.
 */
export function keepList(before: Messages, after: Messages): Messages {
  const isSame = before.length === after.length && after.every((message, at) => looksSame(message, before[at]))
  return isSame ? before : after
}

function looksSame(message: Message, before: Message | undefined): boolean {
  if (message === before) return true
  return message.id === before?.id && message.direction === 'to_user' && message.content === before.content
}

/** The reactions that stand, by message: the last one of each side, unless it was removed. */
export function gatherReactions(messages: Messages): ReadonlyMap<string, string> {
  const standing = new Map<string, Map<string, string>>()
  for (const { content, from } of messages) {
    if (content.type !== 'reaction') continue
    const { message_id, emoji } = content
    const bySide = standing.get(message_id) ?? new Map<string, string>()
    if (emoji === undefined) bySide.delete(from)
    else bySide.set(from, emoji)
    standing.set(message_id, bySide)
  }
  return new Map([...standing].map(([id, bySide]) => [id, [...bySide.values()].join(' ')]))
}
