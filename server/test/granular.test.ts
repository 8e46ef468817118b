import assert from 'node:assert/strict'
import { test } from 'node:test'
import { examplePicture } from '../src/graph/examples.ts'
import { onOneDatabase } from './harness/databases.ts'
import { useTestServer } from './harness/server.ts'
import { accounts, ids, numbers, testWorld, tokens } from './harness/world.ts'

const someAccounts = 'gateway-token-for-one-account'

/** A token of the network's edge that may act towards one account alone. */
function worldWithGranularGateway() {
  const world = testWorld()
  const granular = { token: someAccounts, app_id: ids.application, scopes: ['gateway'], accounts: [accounts.shared] }
  return { ...world, tokens: [...world.tokens, granular] }
}

onOneDatabase('a token that is limited to some accounts', 'sqlite', (engine) => {
  const server = useTestServer({ engine, world: worldWithGranularGateway() })
  const subscriptions = `/v23.0/${ids.application}/subscriptions`
  const subscription = {
    object: 'msgapp_business_account',
    callback_url: 'http://127.0.0.1:9/hook',
    verify_token: 'v',
    fields: ['messages'],
  }

  test('403 for subscriptions, which are about every account of the app', async () => {
    for (const [method, options] of [
      ['GET', {}],
      ['POST', { json: subscription }],
      ['DELETE', {}],
    ] as const) {
      const answer = await server.client.call(method, subscriptions, { token: tokens.granular, ...options })
      assert.deepEqual([method, answer.status, answer.body.error.code], [method, 403, 200])
    }
  })

  test('a token that is limited to some accounts: 404 at the gateway for a number of another account; 200 for one of its own', async () => {
    const grant = (phone_number_id: string) =>
      server.client.post('/gateway/call_permissions', {
        token: someAccounts,
        json: { phone_number_id, user_wa_id: '16505551234', status: 'granted' },
      })
    const send = (phone_number_id: string) =>
      server.client.post('/gateway/media', {
        token: someAccounts,
        json: { phone_number_id, file: examplePicture.base64 },
      })
    for (const act of [grant, send]) {
      assert.equal((await act(numbers.main)).status, 404)
      assert.equal((await act(numbers.shared)).status, 200)
    }
  })

  test("the outbox shows it nothing of another account's numbers", async () => {
    const requested = await server.client.post(`/v23.0/${numbers.fresh}/request_code`, {
      token: tokens.owner,
      json: { code_method: 'SMS', language: 'en_US' },
    })
    assert.equal(requested.status, 200, requested.text)
    const outbox = async (token: string) =>
      (await server.client.get('/gateway/outbox', { token, query: { to: '16315551003' } })).body.data.length
    assert.deepEqual([await outbox(tokens.gateway), await outbox(someAccounts)], [1, 0])
  })

  test('the outbox forgets a code after a day', async () => {
    server.clock.advance(24 * 3_600_000)
    await server.app.settle()
    const answer = await server.client.get('/gateway/outbox', { token: tokens.gateway, query: { to: '16315551003' } })
    assert.deepEqual(answer.body, { data: [] })
  })
})
