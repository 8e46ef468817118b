import { Type } from 'typebox'
import { listCarrierMessagesForGateway } from '../../carrier/send.ts'
import { defineGatewayRead } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { findAccountOfNumberForGateway } from './store.ts'

const maxMessages = 100

export function phoneNumberGatewayOperations(): NewOperation[] {
  return [
    defineGatewayRead({
      name: 'gateway.read_outbox',
      method: 'GET',
      path: '/gateway/outbox',
      sentence: 'Lists the messages that the built-in carrier sent to a number, newest first.',
      returnsSecret: true,
      input: Type.Object({
        to: Type.String({
          pattern: '^\\d{5,15}$',
          maxLength: 15,
          'x-expects': 'a phone number of 5 to 15 digits, with its country code and nothing else',
        }),
      }),
      output: Type.Object({
        data: Type.Array(
          Type.Object({
            to: Type.String(),
            kind: Type.Enum(['sms', 'voice']),
            code: Type.String(),
            language: Type.String(),
            sent_at: Type.String({ format: 'date-time' }),
          }),
        ),
      }),
      examples: {
        input: { to: '16315551002' },
        output: {
          data: [
            { to: '16315551002', kind: 'sms', code: '123456', language: 'en_US', sent_at: '2026-06-01T12:00:00.000Z' },
          ],
        },
      },
      async run({ db, sees }, { to }) {
        const account = await findAccountOfNumberForGateway(db, to)
        if (account === undefined || !sees(account)) return { data: [] }
        const messages = await listCarrierMessagesForGateway(db, to, maxMessages)
        return {
          data: messages.map(({ recipient, kind, code, language, sent_time }) => ({
            to: recipient,
            kind,
            code,
            language,
            sent_at: new Date(sent_time).toISOString(),
          })),
        }
      },
    }),
  ]
}
