import { conversations } from '../../../delivery/raise/conversation.ts'
import type { ChangeValue } from './envelope.ts'
import { defaultField, groupFieldStart } from './envelope-schemas.ts'

type Item = Readonly<Record<string, unknown>>
type Lists = Readonly<Record<string, readonly Item[]>>

interface Part {
  readonly conversation: string
  /** The message or call that it is about; of several the first. */
  readonly subject_id: string | undefined
  readonly value: object
}

/**
 * Splits a change into events, one for each conversation in it, in the order of first appearance: a change of several users or groups
 * would belong to several conversations, and could be ordered in only one of them.
 */
export function splitChange(account_id: string, field: string, value: ChangeValue): Part[] {
  const keyOf = chooseKey(account_id, field, value)
  const lists = pickLists(field, value)
  const keys = [...new Set(Object.values(lists).flat().map(keyOf))]
  const [only, ...others] = keys
  if (only === undefined || others.length === 0) {
    const conversation = only ?? conversationOfValue(account_id, value)
    return [{ conversation, subject_id: findSubject(field, lists), value }]
  }
  return keys.map((conversation) => {
    const isOf = (item: Item) => keyOf(item) === conversation
    return { conversation, subject_id: findSubject(field, lists, isOf), value: keepOf(value, lists, isOf) }
  })
}

/** A stranger wrote the ids, which may be anything; those of messages and calls fit an index. */
const plainId = /^[\x21-\x7e]{1,200}$/

function findSubject(field: string, lists: Lists, isOf: (item: Item) => boolean = () => true): string | undefined {
  if (!Object.hasOwn(listsOfFields, field)) return undefined
  const holder = Object.values(lists).find((items) => items.some(isOf))
  const id = holder?.find(isOf)?.['id']
  return typeof id === 'string' && plainId.test(id) ? id : undefined
}

/** The lists whose items may belong to different conversations. */
function pickLists(field: string, value: ChangeValue): Lists {
  const names = field.startsWith(groupFieldStart) ? ['groups'] : listsOfFields[field]
  const given = (names ?? []).map((name) => [name, (value as Record<string, unknown>)[name]])
  return Object.fromEntries(given.filter(([, items]) => Array.isArray(items) && items.every(isItem))) as Lists
}

const listsOfFields: Readonly<Record<string, readonly string[]>> = {
  [defaultField]: ['messages', 'statuses'],
  calls: ['calls', 'statuses'],
}

function isItem(item: unknown): item is Item {
  return typeof item === 'object' && item !== null
}

function chooseKey(account_id: string, field: string, { metadata }: ChangeValue): (item: Item) => string {
  const number = metadata?.phone_number_id
  return ({ id, group_id, from, recipient_id }) => {
    const user = from ?? recipient_id
    if (typeof group_id === 'string') return conversations.group(group_id)
    if (field === 'calls' && typeof id === 'string') return conversations.call(id)
    if (field === defaultField && number !== undefined && typeof user === 'string')
      return conversations.user(number, user)
    return conversations.account(account_id)
  }
}

function conversationOfValue(account_id: string, value: object): string {
  const { message_template_id: template } = value as { message_template_id?: unknown }
  if (typeof template === 'string' || typeof template === 'number') return conversations.template(String(template))
  return conversations.account(account_id)
}

/** The same value with only these items and their contacts. Everything else stays as received. */
function keepOf(value: ChangeValue, lists: Lists, isKept: (item: Item) => boolean): object {
  const kept = Object.entries(lists).map(([name, items]) => [name, items.filter(isKept)] as const)
  const users = new Set(kept.flatMap(([, items]) => items.flatMap(({ from, recipient_id }) => [from, recipient_id])))
  const changed: Record<string, readonly unknown[]> = Object.fromEntries(kept)
  const { contacts } = value as { contacts?: unknown }
  if (Array.isArray(contacts)) {
    const about = contacts.filter((contact) => !isItem(contact) || !('wa_id' in contact) || users.has(contact.wa_id))
    changed['contacts'] = about.length > 0 ? about : contacts
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const list = changed[name]
      if (list === undefined) return [[name, member]]
      return list.length > 0 ? [[name, list]] : []
    }),
  )
}
