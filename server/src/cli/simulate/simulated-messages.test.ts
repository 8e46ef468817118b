import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseVocabulary, vocabularyNames } from '../../graph/vocabulary.ts'
import { checkSession } from '../../resources/calls/rules.ts'
import { makeEnvelopeCheck } from '../../resources/webhooks/inbound/envelope.ts'
import { messageKinds } from '../../resources/webhooks/inbound/message-kinds.ts'
import { buildEnvelope, simulatedKinds } from './simulated-messages.ts'
import { writeSession } from './simulated-sessions.ts'

const number = { id: '4000000000000001', account_id: '1000000000000001', display_phone_number: '+1 631-555-1001' }
const answered = { from: '16315551001', id: 'wamid.0' }
const message = {
  id: 'wamid.1',
  from: '16505551234',
  name: 'Ada',
  text: undefined,
  payload: undefined,
  answered,
  isReply: false,
  file: { id: '9', mime_type: 'image/png', sha256: 'ab', filename: 'a.png', animated: false },
  time: 1_780_315_200_500,
}

test('there is a message of every kind', () => {
  assert.deepEqual(Object.keys(simulatedKinds).sort(), Object.keys(messageKinds).sort())
})

for (const name of vocabularyNames) {
  for (const type of Object.keys(simulatedKinds) as (keyof typeof simulatedKinds)[]) {
    test(`a message of the kind ${type} in the vocabulary ${name} is one that the receiver takes`, () => {
      const vocabulary = chooseVocabulary(name)
      const check: (body: unknown) => void = makeEnvelopeCheck(vocabulary)
      const envelope = buildEnvelope(vocabulary, number, { ...message, type })
      assert.doesNotThrow(() => check(envelope))
      const { entry } = envelope as { entry: [{ id: string; changes: [{ value: { messages: [object] } }] }] }
      assert.equal(entry[0].id, number.account_id)
      const { type: told, timestamp } = entry[0].changes[0].value.messages[0] as Record<string, unknown>
      assert.deepEqual([told, timestamp], [type, '1780315200'])
    })
  }
}

/** The message in an envelope of any kind. */
function messageOf(type: keyof typeof simulatedKinds, given: object): Record<string, unknown> {
  const envelope = buildEnvelope(chooseVocabulary('msgapp'), number, { ...message, type, ...given })
  const { entry } = envelope as { entry: [{ changes: [{ value: { messages: [Record<string, unknown>] } }] }] }
  return entry[0].changes[0].value.messages[0]
}

for (const type of Object.keys(simulatedKinds) as (keyof typeof simulatedKinds)[]) {
  test(`a reply of the kind ${type} names the message of the business`, () => {
    const reply = messageOf(type, { isReply: true })
    if (type === 'reaction') assert.deepEqual(reply['reaction'], { message_id: answered.id, emoji: '👍' })
    else assert.deepEqual(reply['context'], answered)
  })
}

test('a press holds what the business gave the button', () => {
  const pressed = { text: 'Sure', payload: 'order-7' }
  assert.deepEqual(messageOf('button', pressed)['button'], { payload: 'order-7', text: 'Sure' })
  assert.deepEqual(messageOf('interactive', pressed)['interactive'], {
    type: 'button_reply',
    button_reply: { id: 'order-7', title: 'Sure' },
  })
})

for (const [kind, setup] of [
  ['offer', 'actpass'],
  ['answer', 'active'],
] as const) {
  test(`the ${kind} of a simulated phone is a session that calls take, whatever is drawn for it`, () => {
    for (const byte of [0, 127, 255]) {
      const session = writeSession(kind, Buffer.alloc(32, byte))
      assert.doesNotThrow(() => checkSession(kind === 'offer' ? 'connect' : 'accept', session, { sdpStrict: true }))
      assert.match(session.sdp, new RegExp(`\r\na=setup:${setup}\r\n`))
    }
  })
}
