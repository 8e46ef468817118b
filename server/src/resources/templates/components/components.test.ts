import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { body, bodyWith, buttons, templateCalls } from '../../../../test/harness/template-calls.ts'

const length = 2388040
const header = 2388047
const footer = 2388073
const vocabulary = 2388293
const placement = 2388299

type Case = readonly [what: string, members: object, status: number, subcode?: number]

const headed = (members: object) => ({ components: [{ type: 'HEADER', format: 'TEXT', ...members }, body] })
const footed = (text: unknown) => ({ components: [body, { type: 'FOOTER', text }] })
const saying = (text: unknown, example?: object) => ({
  components: [{ type: 'BODY', text, ...(example && { example }) }],
})
const pressed = (...list: object[]) => ({ components: [body, buttons(...list)] })
const marketing = (...list: object[]) => ({ category: 'MARKETING', ...pressed(...list) })
const reply = (text = 'Yes') => ({ type: 'QUICK_REPLY', text })
const url = (address = 'https://example.com', members: object = {}) => ({
  type: 'URL',
  text: 'Open',
  url: address,
  ...members,
})
const phone = (phone_number: unknown = '+16505551234') => ({ type: 'PHONE_NUMBER', text: 'Call', phone_number })
const copy = (example: unknown = 'SPRING') => ({ type: 'COPY_CODE', example })
const flow = (members: object = { flow_id: '1' }) => ({ type: 'FLOW', text: 'Begin', ...members })
const otp = (members: object = {}) => ({ type: 'OTP', otp_type: 'COPY_CODE', ...members })
const app = { package_name: 'com.example', signature_hash: 'K8a/AINcGX7' }
const oneTap = (members: object = {}) => otp({ otp_type: 'ONE_TAP', supported_apps: [app], ...members })
const code = (button: object = otp(), ...more: object[]) => ({
  category: 'AUTHENTICATION',
  components: [{ type: 'BODY' }, ...more, buttons(button)],
})
const named = (text: string, ...examples: object[]) => ({
  parameter_format: 'NAMED',
  ...saying(text, { body_text_named_params: examples }),
})
const a = (count: number) => 'a'.repeat(count)

const groups: Readonly<Record<string, readonly Case[]>> = {
  'a template': [
    ['a name of 512 characters', { name: a(512) }, 200],
    ['a name of 513 characters', { name: a(513) }, 400],
    ['an empty name', { name: '' }, 400],
    ['a name with a capital', { name: 'Hello' }, 400],
    ['a name with a blank', { name: 'hello world' }, 400],
    ['a language that there is not', { language: 'xx' }, 400],
    ['no language', { language: undefined }, 400],
    ['another language', { language: 'zh_HK' }, 200],
    ['a category that there is not', { category: 'SERVICE' }, 400],
    ['a category in lower case', { category: 'utility' }, 400],
    ['a format in lower case', { parameter_format: 'positional' }, 200],
    ['a format that there is not', { parameter_format: 'NUMBERED' }, 400],
    ['allow_category_change, which is ignored', { allow_category_change: true }, 200],
    ['a name of a library', { library_template_name: 'x' }, 400],
    ['a life of 29 s', { message_send_ttl_seconds: 29 }, 400],
    ['a life of 30 s', { message_send_ttl_seconds: 30 }, 200],
    ['a life of 12 h', { message_send_ttl_seconds: 43_200 }, 200],
    ['a second more', { message_send_ttl_seconds: 43_201 }, 400],
    ['a life of -1', { message_send_ttl_seconds: -1 }, 200],
    ['a life of 0', { message_send_ttl_seconds: 0 }, 400],
    ['a life of 12 h less a second for marketing', { category: 'MARKETING', message_send_ttl_seconds: 43_199 }, 400],
    ['a life of 30 d for marketing', { category: 'MARKETING', message_send_ttl_seconds: 2_592_000 }, 200],
    ['a second more for marketing', { category: 'MARKETING', message_send_ttl_seconds: 2_592_001 }, 400],
    ['a life of 15 min for a code', { ...code(), message_send_ttl_seconds: 900 }, 200],
    ['a second more for a code', { ...code(), message_send_ttl_seconds: 901 }, 400],
  ],
  components: [
    ['no components', { components: undefined }, 400],
    ['an empty list', { components: [] }, 400],
    ['a component that is a text', { components: ['BODY'] }, 400],
    ['types in lower case', { components: [{ ...body, type: 'body' }] }, 200],
    ['a carousel', { components: [body, { type: 'CAROUSEL' }] }, 400],
    ['an offer', { components: [body, { type: 'LIMITED_TIME_OFFER' }] }, 400],
    ['no body', { components: [{ type: 'FOOTER', text: 'x' }] }, 400],
    ['two bodies', { components: [body, body] }, 400],
    ['two footers', { components: [body, { type: 'FOOTER', text: 'x' }, { type: 'FOOTER', text: 'y' }] }, 400],
    ['two headers', { components: [...headed({ text: 'x' }).components, { type: 'HEADER', format: 'LOCATION' }] }, 400],
    ['two lists of buttons', { components: [body, buttons(reply()), buttons(reply())] }, 400],
  ],
  'a header': [
    ['a text of 60 characters', headed({ text: '木'.repeat(60) }), 200],
    ['a text of 61 characters', headed({ text: '木'.repeat(61) }), 400, length],
    ['an empty text', headed({ text: '' }), 400, length],
    ['no text', headed({}), 400],
    ['a text that is a number', headed({ text: 7 }), 400],
    ['a format in lower case', headed({ format: 'text', text: 'Hello' }), 200],
    ['no format', headed({ format: undefined, text: 'Hello' }), 400],
    ['a moving picture', headed({ format: 'GIF' }), 400],
    ['a product', headed({ format: 'PRODUCT' }), 400],
    ['a location', headed({ format: 'LOCATION' }), 200],
    ['a line break', headed({ text: 'a\nb' }), 400, header],
    ['an emoji', headed({ text: 'Hello 🌱' }), 400, header],
    ['an emoji made by a sign', headed({ text: 'Love ❤️' }), 400, header],
    ['a trademark', headed({ text: 'Shrub™ 2' }), 200],
    ['an asterisk', headed({ text: 'a *b*' }), 400, header],
    ['one variable', headed({ text: 'Hi {{1}}', example: { header_text: ['Ada'] } }), 200],
    ['two variables', headed({ text: '{{1}} {{2}}', example: { header_text: ['a', 'b'] } }), 400, header],
    ['a variable that is not the first', headed({ text: 'Hi {{2}}', example: { header_text: ['Ada'] } }), 400, header],
    ['a named variable', headed({ text: 'Hi {{name}}', example: { header_text: ['Ada'] } }), 400, header],
    ['a variable without an example', headed({ text: 'Hi {{1}}' }), 400, header],
    ['two examples', headed({ text: 'Hi {{1}}', example: { header_text: ['a', 'b'] } }), 400, header],
    ['an image without a handle', headed({ format: 'IMAGE' }), 400],
    ['an image with two handles', headed({ format: 'IMAGE', example: { header_handle: ['a', 'b'] } }), 400],
    ['an image with an unknown handle', headed({ format: 'IMAGE', example: { header_handle: ['a'] } }), 422],
  ],
  'a body': [
    ['a text of 1024 characters', saying('🌱'.repeat(1024)), 200],
    ['a text of 1025 characters', saying('🌱'.repeat(1025)), 400, length],
    ['an empty text', saying(''), 400, length],
    ['no text', saying(undefined), 400],
    ['one variable and 3 words', saying('Hello {{1}}, how nice', { body_text: [['a']] }), 200],
    ['one variable and 2 words', saying('Hello {{1}}, nice!', { body_text: [['a']] }), 400, vocabulary],
    ['two variables and 5 words', saying('One {{1}} two {{2}} three four five', { body_text: [['a', 'b']] }), 200],
    [
      'two variables and 4 words',
      saying('One {{1}} two {{2}} three four', { body_text: [['a', 'b']] }),
      400,
      vocabulary,
    ],
    ['one variable twice, and 3 words', saying('One {{1}} two {{1}} three', { body_text: [['a']] }), 200],
    ['words without blanks', saying('您好{{1}}，您的订单已经准备好了。', { body_text: [['a']] }), 200],
    ['a variable at its start', saying('{{1}} has come to us', { body_text: [['a']] }), 400, placement],
    ['a variable behind blanks', saying('  {{1}} has come to us', { body_text: [['a']] }), 400, placement],
    ['a variable at its end', saying('We have this for {{1}}', { body_text: [['a']] }), 400, placement],
    [
      'variables beside each other',
      saying('We have {{1}} {{2}} for you all here', { body_text: [['a', 'b']] }),
      400,
      placement,
    ],
    ['a gap', saying('We have {{1}} and also {{3}} for you', { body_text: [['a', 'b']] }), 400],
    ['another order', saying('We have {{2}} and also {{1}} for you', { body_text: [['a', 'b']] }), 400],
    ['names and numbers', saying('We have {{1}} and also {{two}} for you', { body_text: [['a', 'b']] }), 400],
    ['a number of 0', saying('We have {{0}} and also this', { body_text: [['a']] }), 400],
    ['an empty variable', saying('We have {{}} and also this', { body_text: [['a']] }), 400],
    ['no example', saying('We have {{1}} and also this'), 400],
    ['an example too few', saying('We have {{1}} and also {{2}} for you', { body_text: [['a']] }), 400],
    ['an example too many', saying('We have {{1}} and also this', { body_text: [['a', 'b']] }), 400],
    ['two lists of examples', saying('We have {{1}} and also this', { body_text: [['a'], ['b']] }), 400],
    ['an empty example', saying('We have {{1}} and also this', { body_text: [['']] }), 400],
    ['an example of 1024 characters', saying('We have {{1}} and also this', { body_text: [[a(1024)]] }), 200],
    ['an example of 1025 characters', saying('We have {{1}} and also this', { body_text: [[a(1025)]] }), 400],
    ['examples without variables, which are dropped', saying('We have this.', { body_text: [['a']] }), 200],
  ],
  'named variables': [
    ['a name', named('We have {{first_1}} and this', { param_name: 'first_1', example: 'a' }), 200],
    ['a name that begins with a digit', named('We have {{1st}} and this', { param_name: '1st', example: 'a' }), 400],
    ['a name with a capital', named('We have {{First}} and this', { param_name: 'First', example: 'a' }), 400],
    ['a number', named('We have {{1}} and also this', { param_name: '1', example: 'a' }), 400],
    ['no example', named('We have {{first}} and this'), 400],
    ['an example of another name', named('We have {{first}} and this', { param_name: 'last', example: 'a' }), 400],
    ['an example without a text', named('We have {{first}} and this', { param_name: 'first' }), 400],
    [
      'an example more than once',
      named('We have {{b}} and this', { param_name: 'b', example: 'a' }, { param_name: 'b', example: 'a' }),
      400,
    ],
    [
      'names of a header',
      {
        parameter_format: 'named',
        ...headed({
          text: 'Hi {{name}}',
          example: { header_text_named_params: [{ param_name: 'name', example: 'a' }] },
        }),
      },
      200,
    ],
  ],
  'a footer': [
    ['a text of 60 characters', footed(a(60)), 200],
    ['a text of 61 characters', footed(a(61)), 400, length],
    ['an empty text', footed(''), 400, length],
    ['a variable', footed('Hi {{1}}'), 400, footer],
    ['a line break', footed('a\nb'), 400, footer],
  ],
  buttons: [
    ['none', pressed(), 400],
    ['10 quick replies', pressed(...Array.from({ length: 10 }, (_, index) => reply(`Yes ${index}`))), 200],
    ['11 quick replies', pressed(...Array.from({ length: 11 }, (_, index) => reply(`Yes ${index}`))), 400],
    ['a text of 25 characters', pressed(reply(a(25))), 200],
    ['a text of 26 characters', pressed(reply(a(26))), 400, length],
    ['an empty text', pressed(reply('')), 400, length],
    ['a type in lower case', pressed({ type: 'quick_reply', text: 'Yes' }), 200],
    ['a type that is not offered', pressed({ type: 'VOICE_CALL', text: 'Yes' }), 400],
    ['an OTP in a template that is not for codes', pressed(otp()), 400],
    ['2 URLs', pressed(url(), url()), 200],
    ['3 URLs', pressed(url(), url(), url()), 400],
    ['1 phone number', pressed(phone()), 200],
    ['2 phone numbers', pressed(phone(), phone()), 400],
    ['1 code', pressed(copy()), 200],
    ['2 codes', pressed(copy(), copy()), 400],
    ['1 flow', pressed(flow()), 200],
    ['2 flows', pressed(flow(), flow()), 400],
    ['quick replies before the rest', pressed(reply(), reply('No'), url(), phone()), 200],
    ['quick replies behind the rest', pressed(url(), phone(), reply(), reply('No')), 200],
    ['quick replies apart', pressed(reply(), url(), reply('No')), 400],
    ['quick replies in the middle', pressed(url(), reply(), phone()), 400],
    ['a URL of 2000 characters', pressed(url(`https://example.com/${a(1980)}`)), 200],
    ['a URL of 2001 characters', pressed(url(`https://example.com/${a(1981)}`)), 400, length],
    ['a URL by http', pressed(url('http://example.com')), 200],
    ['a URL by ftp', pressed(url('ftp://example.com')), 400],
    ['a URL that is none', pressed(url('example.com')), 400],
    ['no URL', pressed({ type: 'URL', text: 'Open' }), 400],
    ['a URL with a variable', pressed(url('https://e.com/{{1}}', { example: ['https://e.com/a'] })), 200],
    [
      'a variable in the middle of a URL',
      pressed(url('https://e.com/{{1}}/a', { example: ['https://e.com/b/a'] })),
      400,
    ],
    ['a variable twice in a URL', pressed(url('https://e.com/{{1}}{{1}}', { example: ['https://e.com/bb'] })), 400],
    ['two variables in a URL', pressed(url('https://e.com/{{1}}{{2}}', { example: ['https://e.com/bb'] })), 400],
    ['a variable in a URL without an example', pressed(url('https://e.com/{{1}}')), 400],
    ['an example of a URL that is not whole', pressed(url('https://e.com/{{1}}', { example: ['a'] })), 400],
    ['an impossible phone number', pressed(phone('12')), 400],
    ['a phone number without a plus', pressed(phone('16505551234')), 200],
    ['a phone number of 21 characters', pressed(phone('+1 6 5 0 5 5 5 1 2 34')), 400, length],
    ['no phone number', pressed({ type: 'PHONE_NUMBER', text: 'Call' }), 400],
    ['a code of 15 characters', pressed(copy(a(15))), 200],
    ['a code of 16 characters', pressed(copy(a(16))), 400, length],
    ['a code in a list of one', pressed(copy(['SPRING'])), 200],
    ['codes in a list of two', pressed(copy(['SPRING', 'SALE'])), 400],
    ['a code without an example', pressed({ type: 'COPY_CODE' }), 400],
    ['a code with a text', pressed({ ...copy(), text: 'Copy' }), 400],
    ['a flow by name', pressed(flow({ flow_name: 'book' })), 200],
    ['a flow as JSON', pressed(flow({ flow_json: '{}' })), 200],
    ['a flow by id and name', pressed(flow({ flow_id: '1', flow_name: 'book' })), 400],
    ['a flow of nothing', pressed(flow({})), 400],
    ['a catalog', marketing({ type: 'CATALOG', text: 'View' }), 200],
    ['products', marketing({ type: 'MPM', text: 'View' }), 200],
    ['a catalog and a reply', marketing({ type: 'CATALOG', text: 'View' }, reply()), 400],
    ['a catalog in another category', pressed({ type: 'CATALOG', text: 'View' }), 400],
  ],
  'an authentication template': [
    ['a code to copy', code(), 200],
    ['a text of its button', code(otp({ text: a(25) })), 200],
    ['a longer text of its button', code(otp({ text: a(26) })), 400, length],
    ['a text of its body', { ...code(), components: [body, buttons(otp())] }, 400],
    [
      'a recommendation',
      { ...code(), components: [{ type: 'BODY', add_security_recommendation: true }, buttons(otp())] },
      200,
    ],
    [
      'a recommendation that is a text',
      { ...code(), components: [{ type: 'BODY', add_security_recommendation: 'yes' }, buttons(otp())] },
      400,
    ],
    ['named variables', { ...code(), parameter_format: 'NAMED' }, 400],
    ['a header', { ...code(), components: [{ type: 'HEADER', format: 'TEXT', text: 'x' }, ...code().components] }, 400],
    ['1 minute', code(otp(), { type: 'FOOTER', code_expiration_minutes: 1 }), 200],
    ['90 minutes', code(otp(), { type: 'FOOTER', code_expiration_minutes: 90 }), 200],
    ['0 minutes', code(otp(), { type: 'FOOTER', code_expiration_minutes: 0 }), 400],
    ['91 minutes', code(otp(), { type: 'FOOTER', code_expiration_minutes: 91 }), 400],
    ['a footer without minutes', code(otp(), { type: 'FOOTER' }), 400],
    ['a footer with a text', code(otp(), { type: 'FOOTER', code_expiration_minutes: 5, text: 'Hurry' }), 400],
    ['no button', { category: 'AUTHENTICATION', components: [{ type: 'BODY' }] }, 400],
    ['two buttons', { ...code(), components: [{ type: 'BODY' }, buttons(otp(), otp())] }, 400],
    ['another button', code(reply()), 400],
    ['a kind of button that there is not', code(otp({ otp_type: 'TWO_TAP' })), 400],
    ['one tap', code(oneTap({ autofill_text: a(25) })), 200],
    ['one tap with a longer text', code(oneTap({ autofill_text: a(26) })), 400, length],
    ['one tap without apps', code(oneTap({ supported_apps: undefined })), 400],
    ['one tap with 5 apps', code(oneTap({ supported_apps: Array(5).fill(app) })), 200],
    ['one tap with 6 apps', code(oneTap({ supported_apps: Array(6).fill(app) })), 400],
    ['one tap with no app', code(oneTap({ supported_apps: [] })), 400],
    ['one tap with the app on the button', code(oneTap({ supported_apps: undefined, ...app })), 200],
    ['a package of 224 characters', code(oneTap({ supported_apps: [{ ...app, package_name: a(224) }] })), 200],
    ['a package of 225 characters', code(oneTap({ supported_apps: [{ ...app, package_name: a(225) }] })), 400, length],
    ['a hash of 10 characters', code(oneTap({ supported_apps: [{ ...app, signature_hash: a(10) }] })), 400],
    ['a hash of 12 characters', code(oneTap({ supported_apps: [{ ...app, signature_hash: a(12) }] })), 400, length],
    ['zero tap', code(oneTap({ otp_type: 'ZERO_TAP', zero_tap_terms_accepted: true })), 200],
    ['zero tap without the terms', code(oneTap({ otp_type: 'ZERO_TAP' })), 400],
  ],
}

onOneDatabase('the rules of templates', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const calls = templateCalls(server)

  for (const [of, cases] of Object.entries(groups)) {
    describe(of, () => {
      for (const [what, members, status, subcode] of cases) {
        test(`${status} with ${what}`, async () => {
          const answer = await calls.create(members)
          assert.equal(answer.status, status, answer.text)
          if (status === 200) return
          assert.deepEqual([answer.body.error.code, answer.body.error.error_subcode], [100, subcode], answer.text)
        })
      }
    })
  }

  test('a refusal says where, what is wrong and what would be right', async () => {
    const { body: answer } = await calls.create({ components: [body, { type: 'CAROUSEL' }] })
    const message = 'components[1].type: it must be one of HEADER, BODY, FOOTER, BUTTONS.'
    assert.equal(answer.error.message, message)
  })

  test('what is read back is in upper case, without members that are not known', async () => {
    const id = await calls.make({
      components: [
        { type: 'header', format: 'text', text: 'Hi {{1}}', example: { header_text: ['Ada'], more: 1 } },
        { ...bodyWith('We have {{1}} and this.', 'a'), colour: 'red' },
        { type: 'Footer', text: 'Bye' },
        { type: 'buttons', buttons: [{ type: 'quick_reply', text: 'Yes', colour: 'red' }, copy()] },
      ],
    })
    assert.deepEqual((await calls.read(id, { fields: 'components' })).body, {
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'Hi {{1}}', example: { header_text: ['Ada'] } },
        { type: 'BODY', text: 'We have {{1}} and this.', example: { body_text: [['a']] } },
        { type: 'FOOTER', text: 'Bye' },
        {
          type: 'BUTTONS',
          buttons: [
            { type: 'QUICK_REPLY', text: 'Yes' },
            { type: 'COPY_CODE', example: ['SPRING'] },
          ],
        },
      ],
    })
  })

  test('an authentication template has our texts, and a life of 10 minutes', async () => {
    const id = await calls.make({
      category: 'AUTHENTICATION',
      components: [
        { type: 'BODY', add_security_recommendation: true },
        { type: 'FOOTER', code_expiration_minutes: 5 },
        buttons(oneTap({ supported_apps: undefined, ...app })),
      ],
    })
    const { message_send_ttl_seconds, components } = (await calls.read(id)).body
    assert.equal(message_send_ttl_seconds, 600)
    assert.deepEqual(components, [
      {
        type: 'BODY',
        text: '*{{1}}* is your verification code. For your security, do not share this code.',
        add_security_recommendation: true,
        example: { body_text: [['123456']] },
      },
      { type: 'FOOTER', text: 'This code expires in 5 minutes.', code_expiration_minutes: 5 },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'OTP', otp_type: 'ONE_TAP', text: 'Copy code', autofill_text: 'Autofill', supported_apps: [app] },
        ],
      },
    ])
  })
})
