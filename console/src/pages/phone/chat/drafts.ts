import { type ChatKey, keyOf } from '../../../data/phone/chat-key.ts'

const storage = (wa_id: string, key: ChatKey) => `switchboard-draft ${wa_id} ${keyOf(key)}`

/** What was begun in a chat and not sent, in this tab. */
export function readDraft(wa_id: string, key: ChatKey): string {
  return sessionStorage.getItem(storage(wa_id, key)) ?? ''
}

export function keepDraft(wa_id: string, key: ChatKey, text: string): void {
  if (text === '') sessionStorage.removeItem(storage(wa_id, key))
  else sessionStorage.setItem(storage(wa_id, key), text)
}
