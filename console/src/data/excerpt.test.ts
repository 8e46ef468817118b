import assert from 'node:assert/strict'
import { test } from 'node:test'
import { excerptOf, readJson } from './excerpt.ts'

const messages = [
  [{ type: 'text', text: { body: 'Hello\n you' } }, 'Hello you'],
  [{ type: 'text', text: { body: 'x'.repeat(500) } }, `${'x'.repeat(120)}…`],
  [{ type: 'image', image: { id: '1', caption: 'A fern' } }, 'A fern'],
  [{ type: 'interactive', interactive: { type: 'button', body: { text: 'Deliver?' } } }, 'Deliver?'],
  [{ type: 'interactive', interactive: { type: 'list_reply', list_reply: { title: 'Morning' } } }, 'Morning'],
  [{ type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply: { body: 'Pune\n411001' } } }, 'Pune 411001'],
  [{ type: 'interactive', interactive: { type: 'carousel', body: { text: 'New' }, action: { cards: [] } } }, 'New'],
  [{ type: 'button', button: { text: 'Yes', payload: 'y' } }, 'Yes'],
  [{ type: 'reaction', reaction: { emoji: '👍' } }, '👍'],
  [{ type: 'template', template: { name: 'order_shipped' } }, 'order_shipped'],
  [{ type: 'document', document: { filename: 'a.pdf' } }, 'a.pdf'],
  [{ type: 'text', text: { body: '' } }, undefined],
  [{ type: 'contacts', contacts: [{ name: {} }] }, undefined],
  [{ type: 7 }, undefined],
  [{}, undefined],
] as const

for (const [message, excerpt] of messages) {
  test(`the excerpt of ${JSON.stringify(message).slice(0, 80)} is ${excerpt?.slice(0, 20)}`, () => {
    assert.equal(excerptOf(message), excerpt)
  })
}

test('a body that is not an object of JSON has no members', () => {
  assert.deepEqual(readJson('{"to":"1"}'), { to: '1' })
  for (const text of [null, '', '{', '[1]', 'to=1']) assert.deepEqual(readJson(text), {})
})
