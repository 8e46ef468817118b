import type { Message } from '../messages.ts'

/** A message for tests: a text that a business has sent. */
export function makeMessage(changes: Partial<Message> = {}): Message {
  return {
    id: 'wamid.1',
    direction: 'to_user',
    phone_number_id: '4',
    user_wa_id: '16505551234',
    group_id: undefined,
    from: '16315551001',
    timestamp: 1_780_000_000,
    type: 'text',
    content: { type: 'text', body: 'Hello', hasPreview: false },
    replied_id: undefined,
    state: 'sent',
    states: [],
    errors: [],
    ...changes,
  }
}
