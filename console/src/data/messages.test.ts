import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayInteractive, GatewayMessage } from '@switchboard/client/methods'
import type { Question } from './message-parts.ts'
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

const plain = { header: undefined, footer: undefined, buttons: [], cards: [], offer: undefined }

function question(interactive: GatewayInteractive): GatewayMessage {
  return { ...toUser, type: 'interactive', interactive }
}

function asked(type: string, choices: Question['choices']): MessageContent {
  return { type: 'question', question: { type, header: undefined, body: undefined, footer: undefined, choices } }
}

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
      rendered: { ...plain, header: { type: 'image', file }, body: 'Sale' },
    },
  ],
  [
    'a template with an offer and cards',
    {
      ...toUser,
      type: 'template',
      rendered: {
        body: 'Sale',
        buttons: [],
        limited_time_offer: { text: 'Today', expiration_time_ms: 5 },
        cards: [{ header: { type: 'image', image: file }, body: 'Aloe', buttons: [] }, { buttons: [] }],
      } as NonNullable<GatewayMessage['rendered']>,
    },
    {
      type: 'template',
      name: undefined,
      rendered: {
        ...plain,
        body: 'Sale',
        cards: [
          { header: { type: 'image', file }, body: 'Aloe', buttons: [] },
          { header: undefined, body: undefined, buttons: [] },
        ],
        offer: { text: 'Today', end: 5 },
      },
    },
  ],
  [
    'a question with cards, which stand in the order of their indexes',
    question({
      type: 'carousel',
      action: {
        cards: [
          { card_index: 1, header: { type: 'video', video: file }, action: { buttons: [{ quick_reply: reply }] } },
          {
            card_index: 0,
            header: { type: 'image', image: file },
            body: { text: 'Aloe' },
            action: { name: 'cta_url', parameters: { display_text: 'Buy', url: 'https://example.com' } },
          },
        ],
      } as NonNullable<GatewayInteractive['action']>,
    }),
    asked('carousel', {
      type: 'cards',
      cards: [
        {
          header: { type: 'image', file },
          body: 'Aloe',
          choices: { type: 'url', text: 'Buy', url: 'https://example.com' },
        },
        { header: { type: 'video', file }, body: undefined, choices: { type: 'buttons', buttons: [reply] } },
      ],
    }),
  ],
  [
    'a question for an address',
    question({
      type: 'address_message',
      action: {
        parameters: {
          country: 'SG',
          values: { city: 'Singapore' },
          saved_addresses: [{ id: 'home', value: { address: '1 Road' } }],
          validation_errors: { city: 'Which one?' },
        },
      },
    }),
    asked('address_message', {
      type: 'address',
      request: {
        country: 'SG',
        values: { city: 'Singapore' },
        saved: [{ id: 'home', value: { address: '1 Road' } }],
        errors: { city: 'Which one?' },
      },
    }),
  ],
  [
    'a question for an address that names a country alone',
    question({ type: 'address_message', action: { parameters: { country: 'IN' } } }),
    asked('address_message', { type: 'address', request: { country: 'IN', values: {}, saved: [], errors: {} } }),
  ],
  [
    'a question for the contact of the user',
    question({ type: 'request_contact_info' }),
    asked('request_contact_info', { type: 'contact_request' }),
  ],
  [
    'a button that calls',
    question({ type: 'voice_call', action: { parameters: { display_text: 'Ring us', ttl_minutes: 5 } } }),
    asked('voice_call', { type: 'call', text: 'Ring us', minutes: 5 }),
  ],
  [
    'a button that calls, without parameters',
    question({ type: 'voice_call', action: {} }),
    asked('voice_call', { type: 'call', text: 'Call Now', minutes: 10_080 }),
  ],
  [
    'an address that a user gave',
    {
      ...toBusiness,
      type: 'interactive',
      interactive: { type: 'nfm_reply', nfm_reply: { name: 'address_message', body: 'Pune', response_json: '{}' } },
    },
    { type: 'reply', reply: { type: 'address', text: 'Pune' } },
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
