import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TemplateButton, TemplateComponent } from '../../../db/tables.ts'
import { GraphError } from '../../../graph/graph-error.ts'
import { type FillableTemplate, fillTemplate } from './fill.ts'

const body = (text: string): TemplateComponent => ({ type: 'BODY', text })
const footer: TemplateComponent = { type: 'FOOTER', text: 'Lucky Shrub' }

function template(components: TemplateComponent[], more: Partial<FillableTemplate> = {}): FillableTemplate {
  return { category: 'UTILITY', parameter_format: 'POSITIONAL', components, ...more }
}

function withButton(button: TemplateButton): FillableTemplate {
  return template([body('Look at this.'), { type: 'BUTTONS', buttons: [button] }])
}

const text = (value: string) => ({ type: 'text', text: value })
const toBody = (...parameters: unknown[]) => ({ type: 'body', parameters })
const toHeader = (...parameters: unknown[]) => ({ type: 'header', parameters })
const toButton = (sub_type: string, index: unknown, ...parameters: unknown[]) => ({
  ...{ type: 'button', sub_type, index, parameters },
})

/** Checks that filling in is refused with this status and code, and where. */
function assertRefused(code: number, place: string, filled: () => unknown, status = 422): void {
  assert.throws(filled, (error) => {
    assert.ok(error instanceof GraphError, String(error))
    assert.deepEqual([error.status, error.code], [status, code], error.message)
    assert.ok(error.message.startsWith(place), error.message)
    return true
  })
}

describe('a template that is filled in', () => {
  const order = template([
    { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}' },
    body('Dear {{1}}, order {{2}} comes to {{1}} soon.'),
    footer,
  ])

  test('a template that is filled in shows each parameter in its place, and a variable twice where it stands twice', () => {
    const filled = fillTemplate(order, [toHeader(text('A7')), toBody(text('Ada'), text('A7'))])
    assert.deepEqual(filled, {
      header: { type: 'text', text: 'Order A7' },
      body: 'Dear Ada, order A7 comes to Ada soon.',
      footer: 'Lucky Shrub',
      buttons: [],
    })
  })

  test('a template that is filled in takes types in either case, and components in any order', () => {
    const filled = fillTemplate(order, [
      { type: 'BODY', parameters: [text('Ada'), { type: 'TEXT', text: 'A7' }] },
      { type: 'Header', parameters: [text('A7')] },
    ])
    assert.equal(filled.body, 'Dear Ada, order A7 comes to Ada soon.')
  })

  test('a template that is filled in is not filled in again by what a parameter holds', () => {
    const filled = fillTemplate(order, [toHeader(text('{{1}}')), toBody(text('{{2}}'), text('$&'))])
    assert.equal(filled.body, 'Dear {{2}}, order $& comes to {{2}} soon.')
  })

  test('a template that is filled in needs no components where it has no variables', () => {
    const plain = template([body('Hello.')])
    assert.deepEqual(fillTemplate(plain), { body: 'Hello.', buttons: [] })
    assert.deepEqual(fillTemplate(plain, [toBody(), { type: 'body' }].slice(0, 1)), { body: 'Hello.', buttons: [] })
  })

  test('a template that is filled in shows the fallback of an amount and of a date', () => {
    const filled = fillTemplate(template([body('Pay {{1}} by {{2}}.')]), [
      toBody(
        { type: 'currency', currency: { fallback_value: '$10.50', code: 'USD', amount_1000: 10_500 } },
        { type: 'date_time', date_time: { fallback_value: '1 June' } },
      ),
    ])
    assert.equal(filled.body, 'Pay $10.50 by 1 June.')
  })

  test('132012 without the component of a part that has variables', () => {
    assertRefused(132012, 'template.components: the header', () => fillTemplate(order, [toBody(text('a'), text('b'))]))
    assertRefused(132012, 'template.components: the body', () => fillTemplate(order, [toHeader(text('a'))]))
  })

  test('132000 with another number of parameters, and for a part that it lacks', () => {
    const place = 'template.components[1]:'
    assertRefused(132000, place, () => fillTemplate(order, [toHeader(text('a')), toBody(text('a'))]))
    assertRefused(132000, place, () =>
      fillTemplate(order, [toHeader(text('a')), toBody(text('a'), text('b'), text('c'))]),
    )
    assertRefused(132000, 'template.components[0]:', () => fillTemplate(order, [toHeader()]))
    assertRefused(132000, 'template.components[0]:', () => fillTemplate(template([body('Hi.')]), [toHeader(text('a'))]))
    assertRefused(132000, 'template.components[0]:', () => fillTemplate(template([body('Hi.')]), [toBody(text('a'))]))
  })

  for (const [what, parameter] of [
    ['nothing', undefined],
    ['a text alone', 'Ada'],
    ['no type', { text: 'Ada' }],
    ['another type', { type: 'image', image: { id: '1' } }],
    ['an empty text', text('')],
    ['a number', { type: 'text', text: 7 }],
    ['a line break', text('a\nb')],
    ['a tab', text('a\tb')],
    ['5 blanks in a row', text('a     b')],
    ['an amount without a fallback', { type: 'currency', currency: { code: 'USD', amount_1000: 1 } }],
    ['an amount without a currency', { type: 'currency', currency: { fallback_value: '1', amount_1000: 1 } }],
    [
      'an amount that is a text',
      { type: 'currency', currency: { fallback_value: '1', code: 'USD', amount_1000: '1' } },
    ],
    ['a date without a fallback', { type: 'date_time', date_time: {} }],
  ] as const) {
    test(`132012 with ${what} as a parameter`, () => {
      const place = 'template.components[0].parameters[0]'
      assertRefused(132012, place, () => fillTemplate(template([body('Dear {{1}}, hello.')]), [toBody(parameter)]))
    })
  }

  test('4 blanks in a row are taken', () => {
    assert.equal(fillTemplate(template([body('({{1}})')]), [toBody(text('a    b'))]).body, '(a    b)')
  })

  test('132012 with components of no form, of no known type, or twice', () => {
    const plain = template([body('Hi.')])
    assertRefused(132012, 'template.components[0]:', () => fillTemplate(plain, ['body']))
    assertRefused(132012, 'template.components[0].parameters:', () =>
      fillTemplate(plain, [{ type: 'body', parameters: 1 }]),
    )
    assertRefused(132012, 'template.components[0].type:', () => fillTemplate(plain, [{ type: 'footer' }]))
    assertRefused(132012, 'template.components[1]:', () => fillTemplate(plain, [toBody(), toBody()]))
    assertRefused(132012, 'template.components[1]:', () =>
      fillTemplate(order, [toHeader(text('a')), toHeader(text('a'))]),
    )
  })

  test('132005 where the header has more than 60 characters, or the body more than 1024', () => {
    const long = (length: number) => text('🌱'.repeat(length))
    const send = (header: number, inBody: number) =>
      fillTemplate(template([{ type: 'HEADER', format: 'TEXT', text: 'x{{1}}' }, body('x{{1}}.')]), [
        toHeader(long(header)),
        toBody(long(inBody)),
      ])
    assert.equal([...send(59, 1022).body].length, 1024)
    assertRefused(132005, 'header:', () => send(60, 1))
    assertRefused(132005, 'body:', () => send(1, 1023))
  })

  test('a body alone may have 32768 characters', () => {
    const send = (length: number) => fillTemplate(template([body('x{{1}}.')]), [toBody(text('a'.repeat(length)))])
    assert.equal(send(32_766).body.length, 32_768)
    assertRefused(132005, 'body:', () => send(32_767))
  })
})

describe('named parameters', () => {
  const named = template([body('Dear {{first_name}}, order {{order_id}} is here.')], { parameter_format: 'NAMED' })
  const called = (parameter_name: unknown, value: string) => ({ ...text(value), parameter_name })

  test('named parameters come in any order', () => {
    const filled = fillTemplate(named, [toBody(called('order_id', 'A7'), called('first_name', 'Ada'))])
    assert.equal(filled.body, 'Dear Ada, order A7 is here.')
  })

  test('named parameters: 400 without a name, 132000 with one that is not there, twice, or with too few', () => {
    const place = 'template.components[0].parameters[1].parameter_name'
    const ada = called('first_name', 'Ada')
    assertRefused(100, place, () => fillTemplate(named, [toBody(ada, text('A7'))]), 400)
    assertRefused(132000, place, () => fillTemplate(named, [toBody(ada, called('order', 'A7'))]))
    assertRefused(132000, place, () => fillTemplate(named, [toBody(ada, ada)]))
    assertRefused(132000, 'template.components[0]:', () => fillTemplate(named, [toBody(ada)]))
  })
})

describe('a header that is no text', () => {
  const withHeader = (format: TemplateComponent['format']) => template([{ type: 'HEADER', format }, body('Hi.')])

  test('a header that is no text returns the file as it was named', () => {
    for (const type of ['image', 'video', 'document'] as const) {
      const format = type.toUpperCase() as TemplateComponent['format']
      const file = { link: 'https://example.com/a' }
      const { header } = fillTemplate(withHeader(format), [toHeader({ type, [type]: file })])
      assert.deepEqual(header, { type, [type]: file })
    }
    const document = { id: '9', filename: 'bill.pdf' }
    const { header } = fillTemplate(withHeader('DOCUMENT'), [toHeader({ type: 'document', document })])
    assert.deepEqual(header, { type: 'document', document })
  })

  test('a header that is no text returns a location, whose degrees may be text', () => {
    const location = { latitude: '-90', longitude: 180, name: 'Pole', address: 'North' }
    const { header } = fillTemplate(withHeader('LOCATION'), [toHeader({ type: 'location', location })])
    assert.deepEqual(header, { type: 'location', location: { ...location, latitude: -90 } })
  })

  test('132012 when it is left out, or not of this kind or form', () => {
    const place = 'template.components[0].parameters[0]'
    assertRefused(132012, 'template.components: the header', () => fillTemplate(withHeader('IMAGE')))
    for (const parameter of [
      text('a'),
      { type: 'video', video: { id: '1' } },
      { type: 'image' },
      { type: 'image', image: {} },
      { type: 'image', image: { id: '1', link: 'https://example.com' } },
      { type: 'image', image: { id: 1 } },
      { type: 'image', image: { id: '1', caption: 'x' } },
    ]) {
      assertRefused(132012, place, () => fillTemplate(withHeader('IMAGE'), [toHeader(parameter)]))
    }
    const named = (filename: string) => toHeader({ type: 'document', document: { id: '1', filename } })
    assert.ok(fillTemplate(withHeader('DOCUMENT'), [named('f'.repeat(240))]))
    assertRefused(132012, place, () => fillTemplate(withHeader('DOCUMENT'), [named('f'.repeat(241))]))
    for (const location of [{ latitude: 91, longitude: 0 }, { latitude: 0 }, { latitude: 'x', longitude: 0 }]) {
      assertRefused(132012, place, () =>
        fillTemplate(withHeader('LOCATION'), [toHeader({ type: 'location', location })]),
      )
    }
  })

  test('132000 with two files', () => {
    const image = { type: 'image', image: { id: '1' } }
    assertRefused(132000, 'template.components[0]:', () => fillTemplate(withHeader('IMAGE'), [toHeader(image, image)]))
  })
})

describe('buttons', () => {
  const place = 'template.components[0]'
  const fill = (button: TemplateButton, ...given: unknown[]) => fillTemplate(withButton(button), given).buttons[0]

  test('a quick reply has its payload, or its text', () => {
    const button = { type: 'QUICK_REPLY', text: 'Yes' } as const
    assert.deepEqual(fill(button), { index: 0, type: 'QUICK_REPLY', text: 'Yes', payload: 'Yes' })
    const send = (payload: string) => fill(button, toButton('QUICK_REPLY', '0', { type: 'payload', payload }))
    assert.equal(send('p'.repeat(256))?.payload?.length, 256)
    assertRefused(132012, place, () => send('p'.repeat(257)))
    assertRefused(132012, place, () => send(''))
    assertRefused(132000, place, () => fill(button, toButton('quick_reply', 0)))
  })

  test('a URL with a variable needs its end; one without takes none', () => {
    const open = { type: 'URL', text: 'Open', url: 'https://example.com/{{1}}' } as const
    assert.equal(fill(open, toButton('url', 0, text('a?b=1')))?.url, 'https://example.com/a?b=1')
    assertRefused(132012, 'template.components: the button 0', () => fill(open))
    assertRefused(132000, place, () => fill(open, toButton('url', 0)))
    assertRefused(132012, place, () => fill(open, toButton('url', 0, text(''))))
    assertRefused(132005, place, () => fill(open, toButton('url', 0, text('x'.repeat(2000)))))
    const fixed = { ...open, url: 'https://example.com' }
    assert.equal(fill(fixed)?.url, 'https://example.com')
    assertRefused(132000, place, () => fill(fixed, toButton('url', 0, text('a'))))
  })

  test('a code to copy has 1 to 15 characters', () => {
    const button = { type: 'COPY_CODE', example: ['SPRING'] } as const
    const send = (coupon_code: unknown) =>
      fillTemplate(withButton({ ...button, example: ['SPRING'] }), [
        toButton('copy_code', 0, { type: 'coupon_code', coupon_code }),
      ]).buttons[0]
    assert.deepEqual(send('C'.repeat(15)), {
      ...{ index: 0, type: 'COPY_CODE', text: 'Copy offer code', code: 'C'.repeat(15) },
    })
    assertRefused(132005, place, () => send('C'.repeat(16)))
    assertRefused(132012, place, () => send(''))
    assertRefused(132012, place, () => send(7))
    assertRefused(132012, 'template.components: the button 0', () => fill({ type: 'COPY_CODE' }))
  })

  test('what a flow, a catalog or products are sent is passed on', () => {
    for (const type of ['FLOW', 'CATALOG', 'MPM'] as const) {
      const button = { type, text: 'Open' }
      const action = { flow_token: 'x' }
      const kind = type.toLowerCase()
      assert.deepEqual(fill(button, toButton(kind, 0, { type: 'action', action }))?.action, action)
      assert.deepEqual(fill(button), { index: 0, type, text: 'Open' })
      assertRefused(132012, place, () => fill(button, toButton(kind, 0, { type: 'action', action: 'x' })))
    }
  })

  test('132012 for a button that is not there, of another kind, twice, or that takes no parameter', () => {
    const yes = { type: 'QUICK_REPLY', text: 'Yes' } as const
    const payload = { type: 'payload', payload: 'p' }
    for (const index of [1, '1', -1, 0.5, 'x', undefined, '00001']) {
      assertRefused(132012, `${place}.index`, () => fill(yes, toButton('quick_reply', index, payload)))
    }
    assertRefused(132012, `${place}.sub_type`, () => fill(yes, toButton('url', 0, text('a'))))
    const reply = toButton('quick_reply', 0, payload)
    assertRefused(132012, 'template.components[1]', () => fill(yes, reply, reply))
    const call = { type: 'PHONE_NUMBER', text: 'Call', phone_number: '16505551234' } as const
    assert.equal(fill(call)?.phone_number, '16505551234')
    assertRefused(132012, place, () => fill(call, toButton('phone_number', 0)))
  })

  test('an authentication template has one code, in the body and in the button', () => {
    const code: FillableTemplate = template(
      [
        body('*{{1}}* is your verification code.'),
        { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
      ],
      { category: 'AUTHENTICATION' },
    )
    const send = (inBody: string, inButton = inBody) =>
      fillTemplate(code, [toBody(text(inBody)), toButton('url', 0, text(inButton))])
    assert.deepEqual(send('123456'), {
      body: '*123456* is your verification code.',
      buttons: [{ index: 0, type: 'OTP', text: 'Copy code', otp_type: 'COPY_CODE', code: '123456' }],
    })
    assert.ok(send('1'.repeat(15)))
    assertRefused(132005, 'template.components[1]', () => send('1'.repeat(16)))
    assertRefused(132012, 'template.components[1]', () => send('123456', '123457'))
    assertRefused(132012, 'template.components: the button 0', () => fillTemplate(code, [toBody(text('1'))]))
  })
})
