import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type HabitName, habits } from '../src/graph/habits.ts'
import type { VocabularyName } from '../src/graph/vocabulary.ts'
import type { Answer } from './harness/client.ts'
import { type TestServer, useTestServer } from './harness/server.ts'
import { ids, numbers, qrCodes, tokens } from './harness/world.ts'

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

/** One for each habit: without it, a new habit does not compile. */
const cases: Partial<Record<HabitName, Case>> = {
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
