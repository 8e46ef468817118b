import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  argumentHoldsTooMuch,
  argumentMissing,
  argumentNotJson,
  argumentOfAnotherVocabulary,
  argumentTooDeep,
  argumentWrong,
} from '../src/graph/errors.ts'
import type { VocabularyName } from '../src/graph/vocabulary.ts'
import { emptyMembers } from '../src/http/empty-members.ts'
import { offerMissing } from '../src/resources/calls/errors.ts'
import { flowNotOne, nothingToShow } from '../src/resources/messages/errors.ts'
import { pinsDiffer } from '../src/resources/phone-numbers/errors.ts'
import { componentMissing, textParametersMissing } from '../src/resources/templates/public.ts'
import type { CallOptions } from './harness/client.ts'
import { assertError, like } from './harness/errors.ts'
import { png } from './harness/media-files.ts'
import { type TestServer, useTestServer } from './harness/server.ts'
import { body, bodyWith, buttons } from './harness/template-calls.ts'
import { ids, numbers, testWorld, tokens, users } from './harness/world.ts'

const unverified = '4000000000000061'
const to = '16505550061'

/** With templates that need texts, a picture or a flow, and a number whose link is not verified. */
function worldOfRequests() {
  const world = testWorld()
  const [account, ...others] = world.accounts as unknown as { phone_numbers: object[]; templates: object[] }[]
  if (!account) throw new Error('the world has no account')
  const link = { type: 'URL', text: 'Track', url: 'https://shrub.example/{{1}}', example: ['https://shrub.example/A7'] }
  const templates = [
    { name: 'with_text', components: [bodyWith('Dear {{1}}, your order is ready.', 'Ada')] },
    { name: 'with_image', components: [{ type: 'HEADER', format: 'IMAGE' }, body] },
    { name: 'with_link', components: [body, buttons(link)] },
    { name: 'with_flow', components: [body, buttons({ type: 'FLOW', text: 'Open', flow_id: '1' })] },
  ].map((template, index) => ({
    ...{ id: `510000000000016${index}`, language: 'en_US', category: 'UTILITY' },
    ...template,
  }))
  const number = { id: unverified, display_phone_number: '+1 631-555-1061', status: 'UNVERIFIED' }
  return {
    ...world,
    accounts: [
      {
        ...account,
        templates: [...account.templates, ...templates],
        phone_numbers: [...account.phone_numbers, number],
      },
      ...others,
    ],
  }
}

const world = worldOfRequests()

describe('requests in both vocabularies', () => {
  const whatsapp = useTestServer({ engine: 'sqlite', world, env: { VOCABULARY: 'whatsapp' } })
  const msgapp = useTestServer({ engine: 'sqlite', world })
  const both = [
    ['whatsapp', whatsapp],
    ['msgapp', msgapp],
  ] as const

  const post = (server: TestServer, path: string, options: CallOptions) =>
    server.client.post(`/v23.0/${path}`, { token: tokens.owner, ...options })
  const send = (server: TestServer, product: string, message: object) =>
    post(server, `${numbers.main}/messages`, { json: { messaging_product: product, to, ...message } })

  describe('uploads of media', () => {
    const upload = (server: TestServer, multipart: CallOptions['multipart']) =>
      post(server, `${numbers.main}/media`, { multipart: multipart ?? {} })
    const file = (type?: string) => new Blob([new Uint8Array(png)], type === undefined ? {} : { type })

    test('messaging_product is required in the second vocabulary alone', async () => {
      const refused = await upload(whatsapp, { file: file('image/png') })
      assertError(refused, like(argumentMissing, { argument: 'messaging_product' }))
      assert.equal((await upload(msgapp, { file: file('image/png') })).status, 200)
    })

    const wrong = like(argumentWrong, { argument: 'type' })
    for (const [what, parts, isTaken] of [
      ['no type', { file: file() }, true],
      ['the type of its bytes', { file: file('image/png') }, true],
      ['a type of other bytes', { file: file('audio/ogg; codecs=opus') }, true],
      ['another name of Ogg', { type: 'audio/opus', file: file() }, true],
      ['octets', { file: file('application/octet-stream') }, true],
      ['a type that is not accepted', { file: file('image/gif') }, false],
      ['a member that is accepted, whatever its part says', { file: file('image/gif'), type: 'image/png' }, true],
      ['a member that is not accepted, whatever its part says', { type: 'image/gif', file: file('image/png') }, false],
      ['octets in the member', { type: 'application/octet-stream', file: file() }, false],
    ] as const) {
      test(`a declared type must be accepted in the second vocabulary alone: ${what}`, async () => {
        const strict = await upload(whatsapp, { messaging_product: 'whatsapp', ...parts })
        if (isTaken) assert.equal(strict.status, 200, strict.text)
        else assertError(strict, wrong)
        assert.equal((await upload(msgapp, { messaging_product: 'msgapp', ...parts })).status, 200)
      })
    }

    test('a user may send a file of any declared type in both', async () => {
      for (const [, { client }] of both) {
        const multipart = { phone_number_id: numbers.main, file: file('image/gif') }
        assert.equal((await client.post('/gateway/media', { token: tokens.gateway, multipart })).status, 200)
      }
    })
  })

  test('connect requires a session in the second vocabulary alone', async () => {
    const connect = { action: 'connect', to: users.granting }
    const call = (server: TestServer, product: string) =>
      post(server, `${numbers.main}/calls`, { json: { messaging_product: product, ...connect } })
    assertError(await call(whatsapp, 'whatsapp'), offerMissing())
    assert.equal((await call(msgapp, 'msgapp')).status, 200)
  })

  describe('messages that show what is not there', () => {
    const text = { text: 'Look' }
    const flow = { flow_message_version: '3', flow_id: '1', flow_cta: 'Open' }
    const interactive = {
      flow: { body: text, action: { name: 'flow', parameters: flow } },
      product: { action: { catalog_id: '1', product_retailer_id: '2' } },
      product_list: {
        header: { type: 'text', text: 'Ours' },
        body: text,
        action: { catalog_id: '1', sections: [{ product_items: [{ product_retailer_id: '2' }] }] },
      },
      catalog_message: { body: text, action: { name: 'catalog_message' } },
    }
    for (const [type, rest] of Object.entries(interactive)) {
      test(`${type} is refused in the second vocabulary and sent in the first`, async () => {
        const message = { type: 'interactive', interactive: { type, ...rest } }
        const what = type === 'flow' ? 'flows' : 'catalogues'
        const refused = await send(whatsapp, 'whatsapp', message)
        assertError(refused, nothingToShow({ place: 'interactive', what }))
        assert.deepEqual([refused.status, refused.body.error.code], [400, 131009])
        assert.equal((await send(msgapp, 'msgapp', message)).status, 200)
      })
    }

    test('the form is checked first, and buttons are sent in both', async () => {
      const broken = { name: 'flow', parameters: { ...flow, flow_name: 'one' } }
      const reply = { type: 'reply', reply: { id: 'yes', title: 'Yes' } }
      for (const [product, server] of both) {
        const wrong = { type: 'flow', body: text, action: broken }
        const place = 'interactive.action.parameters'
        assertError(await send(server, product, { type: 'interactive', interactive: wrong }), flowNotOne(place))
        const right = { type: 'button', body: text, action: { buttons: [reply] } }
        assert.equal((await send(server, product, { type: 'interactive', interactive: right })).status, 200)
      }
    })

    test('a template with a button for a flow is refused in the second vocabulary and sent in the first', async () => {
      const message = { type: 'template', template: { name: 'with_flow', language: { code: 'en_US' } } }
      const refused = await send(whatsapp, 'whatsapp', message)
      assertError(refused, nothingToShow({ place: 'template: the button 0', what: 'flows' }))
      assert.equal((await send(msgapp, 'msgapp', message)).status, 200)
    })
  })

  test('a missing text parameter of a template is counted in the second vocabulary; a missing file is not', async () => {
    for (const [name, kind, isText] of [
      ['with_text', 'the body', true],
      ['with_link', 'the button 0', true],
      ['with_image', 'the header', false],
    ] as const) {
      const message = { type: 'template', template: { name, language: { code: 'en_US' } } }
      const counted = await send(whatsapp, 'whatsapp', message)
      assertError(counted, like(isText ? textParametersMissing : componentMissing, { kind }))
      assert.equal(counted.body.error.code, isText ? 132000 : 132012)
      assertError(await send(msgapp, 'msgapp', message), like(componentMissing, { kind }))
    }
  })

  describe('JSON text in a JSON body', () => {
    const contact = { name: { formatted_name: 'Ada Lovelace', first_name: 'Ada' } }
    const template = { name: 'with_text', language: { code: 'en_US' } }
    const parameters = [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }]

    for (const [what, message] of [
      ['an array', { type: 'contacts', contacts: JSON.stringify([contact]) }],
      ['an item of an array', { type: 'contacts', contacts: [JSON.stringify(contact)] }],
      ['an object', { type: 'template', template: JSON.stringify({ ...template, components: parameters }) }],
    ] as const) {
      test(`${what} is read in the second vocabulary and refused in the first`, async () => {
        const read = await send(whatsapp, 'whatsapp', message)
        assert.equal(read.status, 200, read.text)
        const refused = await send(msgapp, 'msgapp', message)
        assertError(refused, argumentWrong)
      })
    }

    test('a member of an object may be JSON text too', async () => {
      const configuration = JSON.stringify({ override_callback_uri: '' })
      const json = {
        whatsapp_business_api_data: '{"notify_user_change_number": true}',
        webhook_configuration: configuration,
      }
      assert.equal((await post(whatsapp, numbers.main, { json })).status, 200)
      assertError(
        await post(msgapp, numbers.main, { json }),
        like(argumentWrong, { argument: 'whatsapp_business_api_data' }),
      )
    })

    test('a member that is a text stays one, and what is not JSON is 400', async () => {
      const message = { type: 'text', text: { body: '{"a": 1}' } }
      const { body: sent, ...answer } = await send(whatsapp, 'whatsapp', message)
      assert.equal(answer.status, 200, answer.text)
      const id = sent.messages[0].id
      const shown = await whatsapp.client.get(`/gateway/messages/${id}`, { token: tokens.gateway })
      assert.ok(shown.text.includes(JSON.stringify('{"a": 1}')), shown.text)
      const broken = await send(whatsapp, 'whatsapp', { type: 'template', template: '{"name": ' })
      assertError(broken, like(argumentNotJson, { argument: 'template' }))
      assertError(
        await send(whatsapp, 'whatsapp', { type: 'template', template: '"{}"' }),
        like(argumentWrong, { argument: 'template' }),
      )
    })

    test('the bounds of a request hold for what is inside, all texts together', async () => {
      const many = (count: number) => `[${Array(count).fill('{}').join(',')}]`
      const deep = `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`
      const post = (json: object) => send(whatsapp, 'whatsapp', { type: 'contacts', ...json })
      assertError(await post({ template: deep }), like(argumentTooDeep, { argument: 'template' }))
      assertError(await post({ contacts: many(20_001) }), like(argumentHoldsTooMuch, { argument: 'contacts' }))
      const half = { name: 'x', list: Array(7000).fill(1) }
      const texts = Array(3).fill(JSON.stringify(half))
      assertError(await post({ contacts: texts }), like(argumentHoldsTooMuch, { argument: 'contacts[2]' }))
    })
  })

  describe('empty members', () => {
    test('an empty text counts as left out in the second vocabulary', async () => {
      const settings = { pin: '123456', whatsapp_business_api_data: { pin: '' }, username: '' }
      assert.equal((await post(whatsapp, numbers.main, { json: settings })).status, 200)
      const refused = await post(msgapp, numbers.main, { json: settings })
      assertError(refused, like(argumentWrong, { argument: 'username' }))
      const { username: _, ...pins } = settings
      assertError(await post(msgapp, numbers.main, { json: pins }), pinsDiffer())
    })

    test('in a list of an interactive message too, and in a form', async () => {
      const rows = [{ id: 'a', title: 'A' }]
      const list = {
        type: 'list',
        body: { text: 'Choose' },
        action: { button: 'Open', sections: [{ title: '', rows }] },
      }
      const message = { type: 'interactive', interactive: list }
      assert.equal((await send(whatsapp, 'whatsapp', message)).status, 200)
      const place = 'interactive.action.sections[0].title'
      assertError(await send(msgapp, 'msgapp', message), like(argumentWrong, { argument: place }))
      const form = { timezone_id: '' }
      assert.equal((await post(whatsapp, ids.account, { form })).status, 200)
      assertError(await post(msgapp, ids.account, { form }), like(argumentWrong, { argument: 'timezone_id' }))
    })

    test('an empty PIN of its own still removes it, in both', async () => {
      for (const [, server] of both) {
        assert.equal((await post(server, numbers.fresh, { json: { pin: '123456' } })).status, 200)
        assert.equal((await post(server, numbers.fresh, { json: { pin: '' } })).status, 200)
        const pins = server.database.read.query.selectFrom('two_step_pins').where('phone_number_id', '=', numbers.fresh)
        assert.deepEqual(await pins.selectAll().execute(), [])
      }
    })

    test('the table names operations and members that there are', () => {
      for (const [operation, members] of Object.entries(emptyMembers)) {
        const { properties } = whatsapp.client.row(operation).input
        for (const member of members) assert.ok(Object.hasOwn(properties, member.split('.')[0] ?? ''), member)
      }
    })
  })

  test('a listed number has a status of the public document in the second vocabulary, or CONNECTED', async () => {
    const statusesOf = async ({ client }: TestServer) => {
      const query = { fields: 'id,status' }
      const { body } = await client.get(`/v23.0/${ids.account}/phone_numbers`, { token: tokens.owner, query })
      return Object.fromEntries(body.data.map(({ id, status }: { id: string; status: string }) => [id, status]))
    }
    const [inWhatsapp, inMsgapp] = [await statusesOf(whatsapp), await statusesOf(msgapp)]
    assert.deepEqual([inWhatsapp[unverified], inMsgapp[unverified]], ['PENDING', 'UNVERIFIED'])
    assert.deepEqual([inWhatsapp[numbers.main], inMsgapp[numbers.main]], ['CONNECTED', 'CONNECTED'])
    const single = await whatsapp.client.get(`/v23.0/${ids.account_number}`, { token: tokens.owner })
    assert.equal(single.body.status, 'CONNECTED')
  })

  describe('a name of the other vocabulary', () => {
    const others: Record<VocabularyName, VocabularyName> = { msgapp: 'whatsapp', whatsapp: 'msgapp' }
    for (const [name, server] of both) {
      const other = others[name]
      const ofOther = (argument: string, written: string) =>
        argumentOfAnotherVocabulary(argument, { expected: JSON.stringify(written), other })

      test(`${name}: as messaging_product it is told the setting; other wrong values are not`, async () => {
        const message = { type: 'text', text: { body: 'Hi' } }
        assertError(await send(server, other, message), ofOther('messaging_product', name))
        const wrong = argumentWrong('messaging_product', { expected: JSON.stringify(name) })
        for (const value of ['telegram', `${other} `, other.toUpperCase(), `${other}_business_account`])
          assertError(await send(server, value, message), wrong)
        const call = { messaging_product: other, action: 'terminate', call_id: 'x' }
        assertError(await post(server, `${numbers.main}/calls`, { json: call }), ofOther('messaging_product', name))
        const form = { messaging_product: other, pin: '123456' }
        assertError(await post(server, `${numbers.main}/register`, { form }), ofOther('messaging_product', name))
      })

      test(`${name}: as the object of a subscription or of inbound events it is told the setting`, async () => {
        const object = `${other}_business_account`
        const json = { object, callback_url: 'https://shrub.example/hook', verify_token: 'x', fields: 'messages' }
        const { client } = server
        const expected = ofOther('object', `${name}_business_account`)
        assertError(await post(server, `${ids.application}/subscriptions`, { json }), expected)
        const events = { object, entry: [{ id: ids.account, changes: [{ field: 'messages', value: {} }] }] }
        assertError(await client.post(`/${name}/webhooks`, { token: tokens.gateway, json: events }), expected)
      })
    }
  })
})
