import { envelopeOf, messagesChange, textMessage } from '../../webhooks.ts'
import { tokens } from '../../world.ts'
import type { ChapterWriter, WriterDeps } from '../chapter-writer.ts'
import { eventKeys } from '../expected-events.ts'
import { Shelf } from '../shelf.ts'

/** Messages that the network's edge hands in. */
export function messagesWriter({ doors }: WriterDeps): ChapterWriter {
  const shelf = new Shelf<boolean>('messages', doors)
  let count = 0
  return {
    name: 'messages',
    async act() {
      const id = `crash.${count++}`
      const json = envelopeOf([messagesChange(textMessage(id, `Für ${id}`))])
      const write = {
        operation: 'receiver.post',
        method: 'POST',
        path: '/msgapp/webhooks',
        token: tokens.gateway,
        json,
      } as const
      await shelf.change({ key: id, value: true, raises: [eventKeys.message(id)] }, write)
    },
    async check(store) {
      const rows = store.rows<{ message_id: string }>(
        "SELECT message_id FROM received_messages WHERE message_id LIKE 'crash.%'",
      )
      shelf.check(new Map(rows.map(({ message_id }) => [message_id, true])))
    },
  }
}
