import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listTexts, listWordsOf } from './texts.ts'

describe('texts of messages', () => {
  const cases: readonly [name: string, content: object, texts: readonly string[]][] = [
    ['a text', { value: { body: 'Hello', preview_url: true } }, ['Hello']],
    ['an image', { value: { id: '9000000000000002', mime_type: 'image/png', caption: 'Our garden' } }, ['Our garden']],
    ['a document', { value: { link: 'https://example.com/x', filename: 'bill.pdf' } }, ['bill.pdf']],
    ['a place', { value: { latitude: 1, longitude: 2, name: 'Depot', address: '1 Hill Rd' } }, ['Depot', '1 Hill Rd']],
    [
      'a list',
      {
        value: {
          type: 'list',
          body: { text: 'Choose' },
          action: { button: 'Open', sections: [{ title: 'Trees', rows: [{ id: 'r1', title: 'Oak' }] }] },
        },
      },
      ['Choose', 'Trees', 'Oak'],
    ],
    ['a choice', { value: { type: 'button_reply', button_reply: { id: 'b1', title: 'Yes' } } }, ['Yes']],
    [
      'contacts',
      { value: [{ name: { formatted_name: 'Ada L.' }, phones: [{ phone: '+1 650' }] }] },
      ['Ada L.', '+1 650'],
    ],
    [
      'a template',
      {
        value: { name: 'order_ready', language: { code: 'en' } },
        rendered: { body: 'Order 7 is ready', buttons: [{ text: 'Track' }] },
      },
      ['Order 7 is ready', 'Track'],
    ],
    [
      'a template with cards and an offer',
      {
        value: { name: 'row', language: { code: 'en' } },
        rendered: {
          body: 'Look',
          buttons: [],
          cards: [
            {
              header: { type: 'image', image: { link: 'https://x.example' } },
              body: 'Tulips',
              buttons: [{ text: 'Buy' }],
            },
          ],
          limited_time_offer: { text: 'Sale', expiration_time_ms: 1_790_000_000_000 },
        },
      },
      ['Look', 'Tulips', 'Buy', 'Sale'],
    ],
    ['a reaction', { value: { message_id: 'wamid.1', emoji: '👍' } }, []],
    ['nothing', {}, []],
  ]
  for (const [name, content, texts] of cases) {
    test(`the texts of ${name}`, () => assert.deepEqual(listTexts(content), texts))
  }

  test('texts of messages that nest without end are left out below a depth', () => {
    let deep: object = { body: 'deep' }
    for (let depth = 0; depth < 50; depth++) deep = { text: deep }
    assert.deepEqual(listWordsOf({ value: deep }), [])
  })
})
