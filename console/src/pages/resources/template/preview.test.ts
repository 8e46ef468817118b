import assert from 'node:assert/strict'
import { test } from 'node:test'
import { composePreview, makeExamples, type PreviewedComponent, type TemplatePreview } from './preview.ts'

const nothing = { header: undefined, footer: undefined, buttons: [], offer: undefined, cards: [] }

const cases: readonly [name: string, components: PreviewedComponent[], preview: TemplatePreview][] = [
  ['a body alone', [{ type: 'BODY', text: 'Welcome' }], { ...nothing, body: 'Welcome' }],
  [
    'every part, with the values of the examples',
    [
      { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['A7'] } },
      { type: 'BODY', text: 'Hello {{1}}, {{2}} is ready', example: { body_text: [['Ada', 'A7']] } },
      { type: 'FOOTER', text: 'Lucky Shrub' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'I am coming' },
          { type: 'COPY_CODE', example: ['X'] },
        ],
      },
    ],
    {
      header: { kind: 'text', text: 'Order A7' },
      body: 'Hello Ada, A7 is ready',
      footer: 'Lucky Shrub',
      buttons: [
        { type: 'QUICK_REPLY', text: 'I am coming' },
        { type: 'COPY_CODE', text: 'Copy offer code' },
      ],
      offer: undefined,
      cards: [],
    },
  ],
  [
    'an offer, and cards with parts of their own',
    [
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Spring sale' } },
      { type: 'BODY', text: 'New' },
      {
        type: 'CAROUSEL',
        cards: [
          {
            components: [
              { type: 'HEADER', format: 'IMAGE' },
              { type: 'BODY', text: 'Aloe {{1}}', example: { body_text: [['vera']] } },
              { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Buy' }] },
            ],
          },
          {},
        ],
      },
    ],
    {
      ...nothing,
      body: 'New',
      offer: 'Spring sale',
      cards: [
        {
          ...nothing,
          header: { kind: 'image', text: '' },
          body: 'Aloe vera',
          buttons: [{ type: 'QUICK_REPLY', text: 'Buy' }],
        },
        { ...nothing, body: '' },
      ],
    },
  ],
  [
    'named variables, and one without an example',
    [
      {
        type: 'BODY',
        text: '{{first_name}} and {{other}}',
        example: { body_text_named_params: [{ param_name: 'first_name', example: 'Ada' }] },
      },
    ],
    { ...nothing, body: 'Ada and {{other}}' },
  ],
  [
    'a picture above',
    [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'Look' },
    ],
    { ...nothing, header: { kind: 'image', text: '' }, body: 'Look' },
  ],
  [
    'a code, whose text is the platform’s',
    [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: 5 },
      { type: 'BUTTONS', buttons: [{ type: 'OTP' }] },
    ],
    {
      ...nothing,
      body: '*123456* is your verification code. For your security, do not share this code.',
      footer: 'This code expires in 5 minutes.',
      buttons: [{ type: 'OTP', text: 'Copy code' }],
    },
  ],
  ['nothing', [], { ...nothing, body: '' }],
]

for (const [name, components, preview] of cases) {
  test(`the preview of a template: ${name}`, () => assert.deepEqual(composePreview(components), preview))
}

test('examples of a new template: one for each variable up to the highest', () => {
  assert.deepEqual(makeExamples('No variable'), [])
  assert.deepEqual(makeExamples('{{2}} and {{1}}, {{2}}'), ['example 1', 'example 2'])
})
