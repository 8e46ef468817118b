import { isText } from '../base/text/json-shapes.ts'

type Members = Readonly<Record<string, unknown>>

/** By field: the lists in its value, and the member of their items that says of what kind an item is. */
const kindMembers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  messages: { messages: 'type', statuses: 'status' },
  calls: { calls: 'event', statuses: 'status' },
  user_preferences: { user_preferences: 'value' },
}
const groupKinds = { groups: 'type' }

/**
 * Of what kinds an event is: the types of its messages or changes of groups, the `event` of its calls, its statuses; of another field
 * its `event` or `decision`. None for what has another form: inbound events may hold anything.
 */
export function listEventKinds(field: string, value: unknown): string[] {
  if (!isMembers(value)) return []
  const lists = kindMembers[field] ?? (field.startsWith('group_') ? groupKinds : undefined)
  if (!lists) return [value['event'] ?? value['decision']].filter(isText)
  return Object.entries(lists).flatMap(([list, member]) => {
    const items = value[list]
    return Array.isArray(items) ? items.filter(isMembers).flatMap((item) => [item[member]].filter(isText)) : []
  })
}

/** Whether an event is about a message: has it, or a status of it. */
export function isAboutMessage(value: unknown, id: string): boolean {
  if (!isMembers(value)) return false
  const items = [value['messages'], value['statuses']].flatMap((list) => (Array.isArray(list) ? list : []))
  return items.some((item) => isMembers(item) && item['id'] === id)
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null
}
