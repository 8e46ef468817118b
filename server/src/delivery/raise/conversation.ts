import { createHash } from 'node:crypto'
import { connectionKind } from '../rules/about-connection.ts'

/**
 * The key that orders events. Events of one conversation reach a subscriber one after the other; events of different conversations
 * do not wait for each other.
 */
export const conversations = {
  /** Messages and their statuses between a phone number and a user. */
  user: (phone_number_id: string, user_wa_id: string) => keyOf(phone_number_id, user_wa_id),
  call: (id: string) => keyOf('call', id),
  group: (id: string) => keyOf('group', id),
  template: (id: string) => keyOf('template', id),
  /** An app's connection to an account. */
  connection: (account_id: string) => keyOf(connectionKind, account_id),
  /** Everything else. */
  account: (id: string) => keyOf('account', id),
}

/** Ids and phone numbers are short and plain. Text from a stranger may be anything, and must fit an index. */
const plainKey = /^[\x21-\x7e]{1,120}$/

function keyOf(kind: string, name: string): string {
  const key = `${kind}/${name}`
  if (plainKey.test(key)) return key
  return `other/${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
}
