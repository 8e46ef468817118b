import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Template } from '@switchboard/client/methods'
import { type Content, type Draft, emptyDraft, toContent } from './draft.ts'
import { fill, listVariables } from './draft-template.ts'

const template: Template = {
  name: 'order_ready',
  language: 'en_US',
  parameter_format: 'POSITIONAL',
  components: [
    { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}' },
    { type: 'BODY', text: 'Dear {{1}}, {{2}} is ready. Bye, {{1}}.', example: { body_text: [['Ada', 'A7']] } },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: 'Stop' },
        { type: 'URL', text: 'Track', url: 'https://a.example/{{1}}' },
        { type: 'COPY_CODE', example: ['SALE'] },
      ],
    },
  ],
}
const values = { 'header 1': 'A7', 'body 1': 'Ada', 'body 2': 'it', 'button 1': 'x', 'button 2': 'CODE' }
const named: Template = {
  ...{ name: 'n', language: 'en', parameter_format: 'NAMED' },
  components: [{ type: 'BODY', text: 'Hi {{first}}' }],
}
const code: Template = {
  ...{ name: 'otp', language: 'en' },
  components: [
    { type: 'BODY', text: '{{1}} is your code.' },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
  ],
}
const parameter = (text: string) => ({ type: 'text', text })

const cases: readonly (readonly [string, Partial<Draft>, Content | undefined])[] = [
  ['an empty text', { text: '  ' }, undefined],
  ['a text', { text: ' Hi ' }, { type: 'text', text: { body: 'Hi' } }],
  ['a file without any', { kind: 'media' }, undefined],
  [
    'a picture by its address',
    { kind: 'media', link: 'https://a.example/fern.PNG?x=1', text: 'A fern' },
    { type: 'image', image: { link: 'https://a.example/fern.PNG?x=1', caption: 'A fern' } },
  ],
  [
    'a document that was uploaded',
    { kind: 'media', file: new File([], 'list.pdf') },
    { type: 'document', document: { id: '5', filename: 'list.pdf' } },
  ],
  ['buttons without a text', { kind: 'buttons' }, undefined],
  [
    'buttons',
    { kind: 'buttons', text: 'Deliver?', buttons: ['Yes', ' '] },
    {
      type: 'interactive',
      interactive: {
        type: 'button',
        body: { text: 'Deliver?' },
        action: { buttons: [{ type: 'reply', reply: { id: 'button-1', title: 'Yes' } }] },
      },
    },
  ],
  [
    'a list',
    { kind: 'list', text: 'When?', rows: [{ title: 'Now', description: '' }] },
    {
      type: 'interactive',
      interactive: {
        type: 'list',
        body: { text: 'When?' },
        action: { button: 'Choose', sections: [{ rows: [{ id: 'row-1', title: 'Now' }] }] },
      },
    },
  ],
  ['no template', { kind: 'template' }, undefined],
  ['a template with an open variable', { kind: 'template', template, values: { ...values, 'body 2': '' } }, undefined],
  [
    'a template',
    { kind: 'template', template, values },
    {
      type: 'template',
      template: {
        name: 'order_ready',
        language: { code: 'en_US' },
        components: [
          { type: 'header', parameters: [parameter('A7')] },
          { type: 'body', parameters: [parameter('Ada'), parameter('it')] },
          { type: 'button', index: '1', sub_type: 'url', parameters: [parameter('x')] },
          {
            ...{ type: 'button', index: '2', sub_type: 'copy_code' },
            parameters: [{ type: 'coupon_code', coupon_code: 'CODE' }],
          },
        ],
      },
    },
  ],
  [
    'a template with names',
    { kind: 'template', template: named, values: { 'body first': 'Ada' } },
    {
      type: 'template',
      template: {
        ...{ name: 'n', language: { code: 'en' } },
        components: [{ type: 'body', parameters: [{ type: 'text', parameter_name: 'first', text: 'Ada' }] }],
      },
    },
  ],
  [
    'a template with a code',
    { kind: 'template', template: code, values: { 'body 1': '123' } },
    {
      type: 'template',
      template: {
        ...{ name: 'otp', language: { code: 'en' } },
        components: [
          { type: 'body', parameters: [parameter('123')] },
          { type: 'button', index: '0', sub_type: 'url', parameters: [parameter('123')] },
        ],
      },
    },
  ],
]
const hour = 3_600_000

test('a template with cards and an offer: each card has variables of its own, and the offer ends by the clock of the service', () => {
  const card = {
    components: [
      { type: 'HEADER', format: 'VIDEO' },
      { type: 'BODY', text: 'For {{1}}', example: { body_text: [['Ada']] } },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Shop', url: 'https://x/{{1}}' }, { type: 'QUICK_REPLY' }] },
    ],
  }
  const template = {
    ...{ name: 'plants', language: 'en' },
    components: [
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Today', has_expiration: true } },
      { type: 'BODY', text: 'New' },
      { type: 'CAROUSEL', cards: [card, card] },
    ],
  } as Template
  const variables = listVariables(template)
  assert.deepEqual(
    variables.slice(0, 4).map(({ key, label, example }) => [key, label, example]),
    [
      ['offer hours', 'Hours until the offer ends', '24'],
      ['card 1 header file', 'Card 1: Address of the video above the text', ''],
      ['card 1 body 1', 'Card 1: Body {{1}}', 'Ada'],
      ['card 1 button 0', 'Card 1: Button 1, Shop: end of the address', ''],
    ],
  )
  assert.equal(variables.length, 7)
  const values = { ...Object.fromEntries(variables.map(({ key }) => [key, key])), 'offer hours': '1.5' }
  const content = toContent({ ...emptyDraft, kind: 'template', template, values }, '', hour)
  const parts = (at: number) => [
    { type: 'header', parameters: [{ type: 'video', video: { link: `card ${at} header file` } }] },
    { type: 'body', parameters: [parameter(`card ${at} body 1`)] },
    { type: 'button', index: '0', sub_type: 'url', parameters: [parameter(`card ${at} button 0`)] },
  ]
  const offer = { type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: 2.5 * hour } }
  assert.deepEqual(content?.['template'], {
    ...{ name: 'plants', language: { code: 'en' } },
    components: [
      { type: 'limited_time_offer', parameters: [offer] },
      {
        type: 'carousel',
        cards: [
          { card_index: 0, components: parts(1) },
          { card_index: 1, components: parts(2) },
        ],
      },
    ],
  })
})

for (const [name, draft, content] of cases) {
  test(`${name} as the API takes it`, () => assert.deepEqual(toContent({ ...emptyDraft, ...draft }, '5'), content))
}

test('the variables of a template, each once, with their examples', () => {
  assert.deepEqual(
    listVariables(template).map(({ key, example }) => [key, example]),
    [
      ['header 1', ''],
      ['body 1', 'Ada'],
      ['body 2', 'A7'],
      ['button 1', ''],
      ['button 2', 'SALE'],
    ],
  )
  const picture: Template = { components: [{ type: 'HEADER', format: 'IMAGE' }] }
  assert.deepEqual(
    listVariables(picture).map(({ key }) => key),
    ['header file'],
  )
})

test('a preview keeps the variables that are open', () => {
  assert.equal(fill('Dear {{1}}, {{2}}', 'body', { 'body 1': '$&' }), 'Dear $&, {{2}}')
})
