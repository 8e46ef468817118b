import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Environment } from '../src/config.ts'
import { callbackStatusWrong, callbackUnreachable } from '../src/egress/errors.ts'
import { packageVersion } from '../src/version.ts'
import { assertArgument, assertError } from './harness/errors.ts'
import { startTestServer } from './harness/server.ts'
import { startSink } from './harness/sink.ts'
import { ids, numbers, testWorld, tokens } from './harness/world.ts'

const member = 'webhook_configuration.override_callback_uri'

/** A world whose app has a callback, so that one of its numbers may have another. */
function worldWithSubscription() {
  const world = testWorld()
  const webhook = { callback_url: 'https://example.com/hook', verify_token: 'of-the-app', fields: ['messages'] }
  return { ...world, apps: world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app)) }
}

async function startServer(t: TestContext, env: Environment = {}) {
  const server = await startTestServer({ engine: 'sqlite', world: worldWithSubscription(), env })
  t.after(() => server.stop())
  return (override_callback_uri: string) =>
    server.client.post(`/v23.0/${numbers.main}`, {
      token: tokens.owner,
      json: { webhook_configuration: { override_callback_uri, verify_token: 'mine' } },
    })
}

describe('the service asks a callback before it is stored', () => {
  test('the service asks a callback before it is stored: 200 when it sends back the challenge', async (t) => {
    const sink = await startSink(t, ({ target }, response) => {
      response.end(new URL(target, 'http://sink').searchParams.get('hub.challenge'))
    })
    const setCallback = await startServer(t)
    assert.deepEqual((await setCallback(`${sink.url}/hook`)).body, { success: true })
    const [request] = sink.requests
    assert.match(request?.target ?? '', /^\/hook\?hub\.mode=subscribe&hub\.challenge=\d+&hub\.verify_token=mine$/)
    assert.equal(request?.headers['user-agent'], `switchboard/${packageVersion()}`)
  })

  test('the service asks a callback before it is stored: 422 with the reason when it does not', async (t) => {
    const sink = await startSink(t, (_, response) => response.writeHead(404).end())
    const setCallback = await startServer(t)
    assertError(await setCallback(sink.url), callbackStatusWrong({ status: 404 }))
  })

  test('the service asks a callback before it is stored: 422 after WEBHOOK_TIMEOUT when it does not answer', async (t) => {
    const sink = await startSink(t, () => {})
    const setCallback = await startServer(t, { WEBHOOK_TIMEOUT: '200ms' })
    assertError(await setCallback(sink.url), callbackUnreachable({ reason: 'no answer came in time' }))
  })

  for (const allowing of [{ NODE_ENV: 'production' }, { ALLOW_INTERNAL_CALLBACKS: 'false' }]) {
    test(`the service asks a callback before it is stored: 400 with ${Object.entries(allowing).join().replace(',', '=')} for an internal address, which hears nothing of it`, async (t) => {
      const sink = await startSink(t, (_, response) => response.end())
      const setCallback = await startServer(t, allowing)
      for (const url of [
        sink.url,
        `https://127.0.0.1:${sink.port}/`,
        `https://localhost:${sink.port}/`,
        `https://[2001:470::5efe:7f00:1]:${sink.port}/`,
      ]) {
        assertArgument(await setCallback(url), member)
      }
      assert.equal(sink.connections.length, 0)
    })
  }
})
