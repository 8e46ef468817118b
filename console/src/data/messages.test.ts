import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayMessage } from '@switchboard/client/methods'
import { type MessageContent, readMessage } from './messages.ts'

const toUser: GatewayMessage = {
  id: 'wamid.1',
  direction: 'to_user',
  phone_number_id: '4',
  user_wa_id: '16505551234',
  from: '16505550000',
  timestamp: '1780000000',
  type: 'unknown',
  state: 'sent',
  states: [],
}
const toBusiness: GatewayMessage = { ...toUser, direction: 'to_business' }
const file = { id: '5', url: 'http://127.0.0.1/message_files/5' }
const reply = { id: 'yes', title: 'Yes' }

const contents: readonly (readonly [name: string, message: GatewayMessage, content: MessageContent])[] = [
  ['a text', { ...toUser, type: 'text', text: { body: 'Hi' } }, { type: 'text', body: 'Hi', hasPreview: false }],
  ['a picture', { ...toUser, type: 'image', image: file }, { type: 'image', file }],
  [
    'a place with numbers as text',
    { ...toUser, type: 'location', location: { latitude: '1.5', longitude: 2, name: 'Here' } },
    { type: 'location', place: { latitude: 1.5, longitude: 2, name: 'Here', address: undefined } },
  ],
  ['contacts', { ...toUser, type: 'contacts', contacts: [{}] }, { type: 'contacts', contacts: [{}] }],
  [
    'a reaction',
    { ...toUser, type: 'reaction', reaction: { message_id: 'wamid.0', emoji: '👍' } },
    { type: 'reaction', message_id: 'wamid.0', emoji: '👍' },
  ],
  [
    'a removed reaction',
    { ...toUser, type: 'reaction', reaction: { message_id: 'wamid.0', emoji: '' } },
    { type: 'reaction', message_id: 'wamid.0', emoji: undefined },
  ],
  [
    'a template with a picture above it',
    {
      ...toUser,
      type: 'template',
      template: { name: 'sale', language: { code: 'en' } },
      rendered: { header: { type: 'IMAGE', image: file }, body: 'Sale', buttons: [] },
    },
    {
      type: 'template',
      name: 'sale',
      rendered: { header: { type: 'image', file }, body: 'Sale', footer: undefined, buttons: [] },
    },
  ],
  [
    'a question with buttons',
    {
      ...toUser,
      type: 'interactive',
      interactive: {
        type: 'button',
        header: { type: 'text', text: 'Order' },
        body: { text: 'Deliver?' },
        action: { buttons: [{ type: 'reply', reply }] },
      },
    },
    {
      type: 'question',
      question: {
        type: 'button',
        header: { type: 'text', text: 'Order' },
        body: 'Deliver?',
        footer: undefined,
        choices: { type: 'buttons', buttons: [reply] },
      },
    },
  ],
  [
    'a question with a list',
    {
      ...toUser,
      type: 'interactive',
      interactive: { type: 'list', action: { button: 'When', sections: [{ rows: [reply] }, {}] } },
    },
    {
      type: 'question',
      question: {
        type: 'list',
        header: undefined,
        body: undefined,
        footer: undefined,
        choices: {
          type: 'list',
          button: 'When',
          sections: [
            { title: undefined, rows: [{ ...reply, description: undefined }] },
            { title: undefined, rows: [] },
          ],
        },
      },
    },
  ],
  [
    'a question of a type that nothing is pressed in',
    { ...toUser, type: 'interactive', interactive: { type: 'product', action: { parameters: { url: 5 } } } },
    {
      type: 'question',
      question: {
        type: 'product',
        header: undefined,
        body: undefined,
        footer: undefined,
        choices: { type: 'none' },
      },
    },
  ],
  [
    'what a user chose',
    { ...toBusiness, type: 'interactive', interactive: { type: 'list_reply', list_reply: reply } },
    { type: 'reply', reply: { type: 'choice', ...reply, description: undefined } },
  ],
  [
    'a refusal of calls',
    {
      ...toBusiness,
      type: 'interactive',
      interactive: { type: 'call_permission_reply', call_permission_reply: { response: 'reject' } },
    },
    { type: 'reply', reply: { type: 'call_permission', isAllowed: false } },
  ],
  [
    'a button of a template',
    { ...toBusiness, type: 'button', button: { text: 'Stop', payload: 'stop' } },
    { type: 'button', text: 'Stop', payload: 'stop' },
  ],
  ['a text that is no longer kept', { ...toUser, type: 'text', content_removed: true }, { type: 'removed' }],
  ['a type without its member', { ...toUser, type: 'image' }, { type: 'unsupported' }],
  ['an unknown type', toUser, { type: 'unsupported' }],
]

for (const [name, message, content] of contents) {
  test(`${name} is read as what it holds`, () => assert.deepEqual(readMessage(message).content, content))
}

test('a message keeps its type, its time as a number, and the message that it replies to', () => {
  const { type, timestamp, replied_id, errors } = readMessage({ ...toUser, type: 'text', context: { id: 'wamid.0' } })
  assert.deepEqual(
    { type, timestamp, replied_id, errors },
    { type: 'text', timestamp: 1780000000, replied_id: 'wamid.0', errors: [] },
  )
})
