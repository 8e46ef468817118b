import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type HabitName, habits } from '../src/graph/habits.ts'
import type { VocabularyName } from '../src/graph/vocabulary.ts'
import type { Answer } from './harness/client.ts'
import { png } from './harness/media-files.ts'
import { messageSides } from './harness/messages.ts'
import { type TestServer, useTestServer } from './harness/server.ts'
import { ids, numbers, qrCodes, tokens, users } from './harness/world.ts'

/** What is seen of a habit, and what it must be in each vocabulary. */
interface Case extends Record<VocabularyName, unknown> {
  readonly see: (server: TestServer, product: VocabularyName) => Promise<unknown>
}

const token = tokens.owner
const to = '16505557001'

/** The status, the code and the subcode of a refusal. */
function refusal({ status, body }: Answer): unknown[] {
  return [status, body.error?.code, body.error?.error_subcode]
}

async function send({ client }: TestServer, product: VocabularyName, message: object): Promise<Answer> {
  return client.post(`/v23.0/${numbers.main}/messages`, { token, json: { messaging_product: product, to, ...message } })
}

/** The value of the webhook for a message of a user. */
async function hear(server: TestServer, message: object) {
  const { gateway, readEvents } = messageSides(server)
  const written = await gateway('messages', { phone_number_id: numbers.main, from: to, ...message })
  assert.equal(written.status, 200, written.text)
  return (await readEvents()).findLast(({ messages }) => messages?.[0].id === written.body.message_id)
}

/** One for each habit: without it, a new habit does not compile. */
const cases: Record<HabitName, Case> = {
  version_optional: {
    see: async ({ client }) => (await client.get(`/${ids.account}/phone_numbers`, { token })).status,
    whatsapp: 200,
    msgapp: 400,
  },
  every_version: {
    see: async ({ client }) => {
      const answers = ['v13.0', 'v23.0', 'v30.0', 'v12.0', 'v31.0', 'v13.1'].map(async (version) =>
        client.get(`/${version}/${ids.account}`, { token }),
      )
      return (await Promise.all(answers)).map(({ status, text }) => [status, text.includes('VERSIONS')])
    },
    whatsapp: [[200, false], [200, false], [200, false], ...Array(3).fill([400, true])],
    msgapp: [[400, false], [200, false], ...Array(4).fill([400, false])],
  },
  token_in_query: {
    see: async ({ client }) =>
      (await client.get(`/v23.0/${ids.account}`, { query: { access_token: tokens.owner } })).status,
    whatsapp: 200,
    msgapp: 401,
  },
  token_ends_told: {
    see: async ({ client }) => {
      const operator = { token: tokens.operator }
      const json = { app_id: ids.application }
      const { id, token: revoked } = (await client.post('/operator/tokens', { ...operator, json })).body
      assert.equal((await client.delete(`/operator/tokens/${id}`, operator)).status, 200)
      const answers = ['never-was-one', tokens.expired, revoked].map((bad) =>
        client.get(`/v23.0/${ids.account}`, { token: bad }),
      )
      return (await Promise.all(answers)).map(refusal)
    },
    whatsapp: [
      [401, 190, undefined],
      [401, 190, 463],
      [401, 190, 467],
    ],
    msgapp: Array(3).fill([401, 190, 463]),
  },
  public_refusals: {
    see: async (server, product) => {
      const { client } = server
      const template = { name: 'nobody_made_it', language: { code: 'en_US' } }
      const unknown = await client.get('/v23.0/1234567890123456', { token })
      return [
        [...refusal(unknown), unknown.body.error.type],
        refusal(await client.get(`/v23.0/${ids.account}/message_qrdls`, { token })),
        refusal(await send(server, product, { to: '16315551001', type: 'text', text: { body: 'Hi' } })),
        refusal(await send(server, product, { type: 'template', template })),
      ]
    },
    whatsapp: [
      [400, 100, 33, 'GraphMethodException'],
      [400, 100, 33],
      [400, 131021, undefined],
      [404, 132001, undefined],
    ],
    msgapp: [
      [404, 803, undefined, 'GraphMethodException'],
      [404, 803, undefined],
      [422, 131021, undefined],
      [422, 132001, undefined],
    ],
  },
  titled_errors: {
    see: async ({ client }) => {
      const { body } = await client.get(`/v23.0/${ids.account}/phone_numbers`, { token, query: { limit: '0' } })
      return [body.error.message, body.error.error_data]
    },
    whatsapp: [
      '(#100) Invalid parameter',
      { messaging_product: 'whatsapp', details: 'limit: it must be an integer from 1 to 100.' },
    ],
    msgapp: ['limit: it must be an integer from 1 to 100.', undefined],
  },
  strict_uploads: {
    see: async ({ client }, product) => {
      const upload = async (members: object, type: string) => {
        const multipart = { ...members, file: new Blob([new Uint8Array(png)], { type }) }
        return (await client.post(`/v23.0/${numbers.main}/media`, { token, multipart })).status
      }
      const messaging_product = product
      return [
        await upload({ messaging_product }, 'image/png'),
        await upload({}, 'image/png'),
        await upload({ messaging_product }, 'image/gif'),
      ]
    },
    whatsapp: [200, 400, 400],
    msgapp: [200, 200, 200],
  },
  calls_need_session: {
    see: async ({ client }, product) => {
      const json = { messaging_product: product, to: users.granting, action: 'connect' }
      return (await client.post(`/v23.0/${numbers.main}/calls`, { token, json })).status
    },
    whatsapp: 400,
    msgapp: 200,
  },
  only_what_exists: {
    see: async (server, product) => {
      const action = { catalog_id: '1', product_retailer_id: '2' }
      return refusal(await send(server, product, { type: 'interactive', interactive: { type: 'product', action } }))
    },
    whatsapp: [400, 131009, undefined],
    msgapp: [200, undefined, undefined],
  },
  missing_parameters_counted: {
    see: async (server, product) => {
      const template = { name: 'order_update', language: { code: 'en_US' } }
      return refusal(await send(server, product, { type: 'template', template }))
    },
    whatsapp: [400, 132000, undefined],
    msgapp: [422, 132012, undefined],
  },
  json_in_json: {
    see: async (server, product) => (await send(server, product, { text: '{"body":"Hi"}' })).status,
    whatsapp: 200,
    msgapp: 400,
  },
  empty_is_left_out: {
    see: async (server, product) => {
      const { client } = server
      const json = { pin: '123456', whatsapp_business_api_data: { pin: '' } }
      const { status } = await client.post(`/v23.0/${numbers.fresh}`, { token, json })
      const location = { latitude: 37.4, longitude: -122.1, name: null }
      return [status, (await send(server, product, { type: 'location', location, context: null })).status]
    },
    whatsapp: [200, 200],
    msgapp: [400, 400],
  },
  public_activities: {
    see: async ({ client }) => {
      assert.equal((await client.post(`/v23.0/${ids.account}`, { token, json: { name: 'Shrubs' } })).status, 200)
      const { body } = await client.get(`/v23.0/${ids.account}/activities`, { token, query: { limit: '1' } })
      const [{ activity_type, operation }] = body.data
      return [activity_type, operation]
    },
    whatsapp: ['ACCOUNT_UPDATED', undefined],
    msgapp: [undefined, 'account.update'],
  },
  document_statuses: {
    see: async ({ client, database }) => {
      await database.transaction(async (tx) => {
        const query = tx.query.updateTable('phone_numbers').set({ link_status: 'UNVERIFIED' })
        await query.where('id', '=', numbers.fresh).execute()
      })
      const { body } = await client.get(`/v23.0/${ids.account}/phone_numbers`, { token, query: { fields: 'status' } })
      return body.data.map(({ status }: { status: string }) => status).sort()
    },
    whatsapp: ['CONNECTED', 'PENDING'],
    msgapp: ['CONNECTED', 'UNVERIFIED'],
  },
  webhook_media_urls: {
    see: async (server) => {
      const file = { phone_number_id: numbers.main, file: png.toString('base64') }
      const { id } = (await messageSides(server).gateway('media', file)).body
      const { url, sha256 } = (await hear(server, { type: 'image', image: { id } })).messages[0].image
      return [typeof url, sha256.length]
    },
    whatsapp: ['string', 44],
    msgapp: ['undefined', 64],
  },
  public_message_ids: {
    see: async (server, product) => {
      const { body } = await send(server, product, { type: 'text', text: { body: 'Hi' } })
      const [{ id }] = body.messages
      return [/^wamid\.HBgL/.test(id), Buffer.from(id.slice(6), 'base64').length >= 40]
    },
    whatsapp: [true, true],
    msgapp: [false, false],
  },
  long_ids: {
    see: async ({ client }) => {
      const json = { businesses: [{ id: '12345678901234567890', name: 'Long' }] }
      return (await client.post('/operator/world', { token: tokens.operator, json })).status
    },
    whatsapp: 200,
    msgapp: 400,
  },
  user_ids: {
    see: async (server, product) => {
      const { contacts, messages } = await hear(server, { type: 'text', text: { body: 'Hi' } })
      const { user_id } = contacts[0]
      const answered = await send(server, product, {
        to: undefined,
        recipient: user_id ?? 'US.1',
        text: { body: 'Hi' },
      })
      return [/^US\.[A-Z0-9]{28}$/.test(user_id), messages[0].from_user_id === user_id, answered.status]
    },
    whatsapp: [true, true, 200],
    msgapp: [false, true, 400],
  },
  more_message_forms: {
    see: async (server, product) => {
      const interactive = {
        type: 'request_contact_info',
        body: { text: 'How do we reach you?' },
        action: { name: 'request_contact_info' },
      }
      return refusal(await send(server, product, { type: 'interactive', interactive }))
    },
    whatsapp: [200, undefined, undefined],
    msgapp: [400, 131051, undefined],
  },
  update_qr_code_by_path: {
    see: async ({ client }) => {
      const json = { prefilled_message: 'Hello again' }
      return (await client.post(`/v23.0/${numbers.main}/message_qrdls/${qrCodes.main}`, { token, json })).status
    },
    whatsapp: 200,
    msgapp: 404,
  },
  library_fields: {
    see: async ({ client }) =>
      (await client.get(`/v23.0/${numbers.main}`, { token, query: { fields: 'throughput' } })).status,
    whatsapp: 200,
    msgapp: 400,
  },
}

describe('the habits of a vocabulary', () => {
  const servers: Record<VocabularyName, TestServer> = {
    msgapp: useTestServer({ engine: 'sqlite' }),
    whatsapp: useTestServer({ engine: 'sqlite', env: { VOCABULARY: 'whatsapp' } }),
  }

  for (const [name, { see, ...expected }] of Object.entries(cases)) {
    for (const vocabulary of ['whatsapp', 'msgapp'] as const) {
      test(`${habits[name as HabitName].subject} in ${vocabulary} (${name})`, async () => {
        assert.deepEqual(await see(servers[vocabulary], vocabulary), expected[vocabulary])
      })
    }
  }
})

describe('refusals that only a fault rule causes', () => {
  const server = useTestServer({ engine: 'sqlite', env: { VOCABULARY: 'whatsapp', SANDBOX: 'on' } })

  async function fail(effect: object): Promise<Answer> {
    const rules = [{ match: { operation: 'account.read' }, effect }]
    const put = await server.client.call('PUT', '/operator/faults', { token: tokens.operator, json: { rules } })
    assert.equal(put.status, 200, put.text)
    return server.client.get(`/v23.0/${ids.account}`, { token })
  }

  for (const [code, title] of [
    [131000, 'Something went wrong'],
    [131016, 'Service unavailable'],
  ] as const) {
    test(`500 with code ${code}`, async () => {
      const { status, body } = await fail({ status: 500, code })
      assert.deepEqual([status, body.error.code, body.error.message], [500, code, `(#${code}) ${title}`])
      assert.equal(body.error.is_transient, true)
    })
  }

  test('a rule may name the status of either vocabulary, and 404 stays 404', async () => {
    assert.deepEqual(refusal(await fail({ status: 422, code: 131047 })), [400, 131047, undefined])
    assert.deepEqual(refusal(await fail({ status: 400, code: 131047 })), [400, 131047, undefined])
    assert.deepEqual(refusal(await fail({ status: 404 })), [404, 803, undefined])
  })

  test('the doors of operators and of the gateway keep their own errors', async () => {
    const { status, body } = await server.client.get('/gateway/messages/unknown', { token: tokens.gateway })
    assert.deepEqual([status, body.error.code], [404, 803])
    assert.doesNotMatch(body.error.message, /^\(#/)
  })
})
