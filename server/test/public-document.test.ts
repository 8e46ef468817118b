import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import { minute } from '../src/base/time/duration.ts'
import type { BusinessOperation } from '../src/graph/operation.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { businessRows, exampleCall, pathOf } from './harness/example-calls.ts'
import { png } from './harness/media-files.ts'
import { kindsOfPlaceholders, objectOf, publicKeyOf, publicOperations } from './harness/public-document.ts'
import { publicExceptions } from './harness/public-exceptions.ts'
import { findPublicDifferences, publicSchemaOf } from './harness/public-responses.ts'
import { useTestServer } from './harness/server.ts'
import { startSink } from './harness/sink.ts'
import { uploadPicture } from './harness/upload-calls.ts'
import { accounts, ids, numbers, partnerIds, templates, tokens } from './harness/world.ts'

const rows = businessRows(chooseVocabulary('whatsapp'))

/** Rows that the public document does not have: other documents of the public platform do, or the specification alone. */
const elsewhere = [
  'templates.delete',
  'uploads.create',
  'uploads.append',
  'uploads.read',
  'groups.read_invite_link',
  'bot.read_automation',
  'qr_codes.update',
  'webhooks.subscribe',
  'webhooks.list_subscriptions',
  'webhooks.unsubscribe',
]

/** Operations without a response in the public document. */
const unanswered = ['DELETE /{Version}/{group_id}/participants']

describe('the public document and the table', () => {
  test('every kind of object in a path of the public document is known', () => {
    const named = Object.keys(publicOperations).map(objectOf)
    const objects = new Set(named.filter((placeholder) => placeholder !== undefined))
    assert.deepEqual([...objects].sort(), Object.keys(kindsOfPlaceholders).sort())
  })

  test('every row of the business door is an operation of the public document, or one of the operations that are not in it', () => {
    const unknown = rows.filter((row) => publicKeyOf(row) === undefined)
    assert.deepEqual(
      unknown.map(({ name }) => name),
      elsewhere,
    )
  })

  test('no two rows serve the same operation, and every one has a response to compare with', () => {
    const keys = rows.map(publicKeyOf).filter((key) => key !== undefined)
    assert.equal(new Set(keys).size, keys.length)
    assert.deepEqual(
      keys.filter((key) => !publicOperations[key]?.responses?.['200']),
      unanswered,
    )
  })
})

/** What a row is called with instead of its example's object, token or arguments. */
interface Given {
  readonly node?: string
  readonly token?: string
  readonly input?: Readonly<Record<string, unknown>>
}

const writer = '16505557001'

/** Components with members of many kinds. */
const headed = [
  { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['A7'] } },
  { type: 'BODY', text: 'Your order is ready.' },
  { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Where to', url: 'https://luckyshrub.example' }] },
]

describe('responses of every operation that the public document has', () => {
  const server = useTestServer({ engine: 'sqlite', env: { VOCABULARY: 'whatsapp' } })
  /** By row; with several, it is called once with each. */
  const given: Record<string, readonly Given[] | ((t: TestContext) => Promise<readonly Given[]>)> = {
    'messages.send': async () => {
      const read = { status: 'read', message_id: await write(), to: undefined, type: undefined, text: undefined }
      const template = { name: 'hello_world', language: { code: 'en_US' } }
      await join(ids.group)
      return [
        {},
        { input: read },
        { input: { type: 'template', template, text: undefined } },
        { input: { recipient_type: 'group', to: ids.group } },
      ]
    },
    'messages.block_users': async () => {
      // Only users who have written can be blocked; the other one is listed as failed.
      await write()
      return [{}, { input: { block_users: [{ user: writer }] } }]
    },
    'templates.create': [{}, { input: { name: 'order_headed', components: headed } }],
    'templates.read': async () => {
      const query = { name: 'order_headed' }
      const list = await server.client.get(`/v23.0/${ids.account}/message_templates`, { token: tokens.owner, query })
      return [{}, { node: list.body.data[0].id }, { node: templates.order }]
    },
    'profile.update': async () => [{ input: { profile_picture_handle: await uploadPicture(server, png) } }],
    'phone_numbers.request_code': [{ node: numbers.fresh }],
    'phone_numbers.verify_code': async () => {
      const query = { to: '16315551003' }
      const outbox = await server.client.get('/gateway/outbox', { token: tokens.gateway, query })
      return [{ node: numbers.fresh, input: { code: outbox.body.data[0].code } }]
    },
    'phone_numbers.register': [{ node: numbers.fresh }],
    'phone_numbers.deregister': [{ node: numbers.fresh }],
    'phone_numbers.read_info': [{}, { node: numbers.shared }],
    'solutions.reject': async () => {
      const json = {
        ...{ solution_name: 'Unwanted', partner_app_id: partnerIds.application },
        ...{ owner_permissions: [], partner_permissions: ['MESSAGING'] },
      }
      const path = `/v23.0/${ids.application}/whatsapp_business_solution`
      const made = await server.client.post(path, { token: tokens.owner, json })
      return [{ node: made.body.solution_id, token: tokens.partner }]
    },
    'webhooks.link_app': async (t) => {
      const sink = await startSink(t, ({ target }, response) => {
        response.end(new URL(target, 'http://sink').searchParams.get('hub.challenge'))
      })
      return [{}, { input: { override_callback_uri: sink.url, verify_token: 'vt' } }]
    },
    'onboarding.request': [{ token: tokens.partner, input: { solution_id: ids.solution } }],
    'account.list_client': [{ node: partnerIds.business, token: tokens.partner }],
    'portfolio.list_client_businesses': [{ node: partnerIds.application, token: tokens.partner }],
    'onbehalf.list': async () => {
      const json = { account_id: ids.account, requesting_business_id: partnerIds.business }
      await server.client.call('PUT', '/operator/onbehalf-requests', { token: tokens.operator, json })
      return [{}]
    },
    'solutions.list_of_account': [{ node: accounts.shared }],
    'groups.list_join_requests': async () => [{ node: await askToJoin() }],
  }

  before(async () => {
    const json = { category: 'MARKETING' }
    const path = `/gateway/templates/${templates.order}`
    assert.equal((await server.client.post(path, { token: tokens.gateway, json })).status, 200)
  })

  /** Of a user, whom the world file does not know. */
  async function write(): Promise<string> {
    const json = { phone_number_id: numbers.main, from: writer, type: 'text', text: { body: 'Hi' } }
    return (await server.client.post('/gateway/messages', { token: tokens.gateway, json })).body.message_id
  }

  /** A user asks to join a group that approves each. */
  async function askToJoin(): Promise<string> {
    server.clock.advance(minute)
    await server.app.settle()
    const { body } = await server.client.get(`/v23.0/${numbers.main}/groups`, { token: tokens.owner })
    const group = body.data.groups.find(({ subject }: { subject: string }) => subject === 'Spring planting')
    await join(group.id)
    return group.id
  }

  async function join(group: string): Promise<void> {
    const link = await server.client.post(`/v23.0/${group}/invite_link`, {
      token: tokens.owner,
      json: { messaging_product: 'whatsapp' },
    })
    const json = { invite_link: link.body.invite_link, user_wa_id: '16505551888', name: 'Ada' }
    const asked = await server.client.post('/gateway/groups/join', { token: tokens.gateway, json })
    assert.equal(asked.status, 200, asked.text)
  }

  /** Writes come first, so that lists have something to show, and what deletes comes last. */
  const order = ['POST', 'GET', 'DELETE']
  const described = rows.filter(publicSchemaOf)
  const sorted = described.toSorted((one, other) => order.indexOf(one.method) - order.indexOf(other.method))
  test('every operation that is served responds as the public document says, except for known differences', async (t) => {
    for (const row of sorted) {
      await t.test(`${row.name} responds as "${publicKeyOf(row)}"`, async (t) => {
        const special = given[row.name] ?? [{}]
        for (const one of typeof special === 'function' ? await special(t) : special) await callWith(row, one)
      })
    }
    const checked = server.client.publicResponses?.checked ?? []
    const names = new Set(checked.map(({ row }) => row.name))
    assert.deepEqual(
      described.filter(({ name }) => !names.has(name)).map(({ name }) => name),
      [],
      'some were never checked',
    )
    const unnecessary = publicExceptions.filter((exception) => {
      const others = publicExceptions.filter((other) => other !== exception)
      const ofRow = checked.filter(({ row }) => row.name === exception.operation)
      return ofRow.every((response) => findPublicDifferences(response, others).length === 0)
    })
    assert.deepEqual(unnecessary, [], 'some exceptions are no longer needed, or nothing here shows them')
  })

  async function callWith(row: BusinessOperation, { node, token = tokens.owner, input }: Given): Promise<void> {
    const path = pathOf(row, ids, node)
    const { query, ...options } = exampleCall(row, token, input)
    const { fields: ofExample, ...others } = query ?? {}
    for (const fields of selectionsOf(row, ofExample)) {
      const asked = {
        ...others,
        ...(row.list && { limit: String(Math.min(row.list.maxLimit, 100)) }),
        ...(fields !== undefined && { fields }),
      }
      const answer = await server.client.callRow(row, path, { ...options, ...(query && { query: asked }) })
      assert.equal(answer.status, 200, answer.text)
    }
  }
})

/** What `fields` asks for: nothing, what the example does, everything. */
function selectionsOf({ fields }: BusinessOperation, ofExample: string | undefined): (string | undefined)[] {
  return fields ? [undefined, ofExample, fields.available.join(',')] : [undefined]
}
