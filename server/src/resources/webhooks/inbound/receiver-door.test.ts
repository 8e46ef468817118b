import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Updateable } from 'kysely'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { envelopeOf, messagesChange, signHubByHand, textMessage } from '../../../../test/harness/webhooks.ts'
import { ids, testWorld, tokens } from '../../../../test/harness/world.ts'
import { lacksPermission } from '../../../auth/scopes.ts'
import { hashToken } from '../../../auth/tokens.ts'
import { type Log, silentLog } from '../../../base/log/log.ts'
import type { TokensTable } from '../../../db/tables.ts'
import { invalidToken, missingToken } from '../../../graph/errors.ts'
import {
  contentTypeMissing,
  foreignPage,
  methodUnknown,
  pathMisspelt,
  requestUnreadable,
} from '../../../http/errors.ts'

const path = '/msgapp/webhooks'
const json = { 'content-type': 'application/json' }
const owner = { business: ids.business, app: ids.application }

/** A log whose lines about requests are kept. */
function keepLines(): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = []
  const line = (members: string) => void lines.push(JSON.parse(`{${members}}`))
  return { log: Object.assign(Object.create(silentLog), { line, isLevelEnabled: () => true }), lines }
}

function worldWithVerifyToken(): object {
  const world = testWorld()
  const webhook = { callback_url: 'http://127.0.0.1:9/hook', verify_token: 'the-verify-token', fields: ['messages'] }
  return { ...world, apps: world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app)) }
}

onOneDatabase('the doors of the receiver', 'sqlite', (engine) => {
  const { log, lines } = keepLines()
  const server = useTestServer({ engine, log, world: worldWithVerifyToken() })
  const textOf = (id: string) => JSON.stringify(envelopeOf([messagesChange(textMessage(id))]))
  const signed = (raw: string, secret = 'shrub-app-secret') => ({
    raw,
    headers: { ...json, 'x-hub-signature-256': signHubByHand(raw, secret) },
  })
  const handshake = (token: string) => `${path}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444`

  describe('name in the log the operation, and the sender once it is known:', () => {
    const logged = async (call: Promise<{ status: number }>) => {
      lines.length = 0
      const { status } = await call
      assert.equal(lines.length, 1)
      const { operation, status: told, business, app } = lines[0] as Record<string, unknown>
      assert.equal(told, status)
      return { operation, status, ...(business !== undefined && { business, app }) }
    }
    const post = (options: Parameters<typeof server.client.post>[1]) => logged(server.client.post(path, options))

    test('a post with a token, or with a signature', async () => {
      const taken = { operation: 'receiver.post', status: 200, ...owner }
      assert.deepEqual(await post({ token: tokens.gateway, raw: textOf('log.1'), headers: json }), taken)
      assert.deepEqual(await post(signed(textOf('log.2'))), taken)
    })

    test('a post that is refused before its sender is known', async () => {
      const refused = { operation: 'receiver.post', status: 401 }
      assert.deepEqual(await post({ raw: textOf('log.3'), headers: json }), refused)
      assert.deepEqual(await post(signed(textOf('log.4'), 'another')), refused)
      const headers = { ...json, 'sec-fetch-site': 'cross-site' }
      assert.deepEqual(await post({ raw: textOf('log.5'), headers }), { operation: 'receiver.post', status: 403 })
    })

    test('a post that is refused when its sender is known', async () => {
      const refused = { operation: 'receiver.post', status: 400, ...owner }
      assert.deepEqual(await post({ token: tokens.gateway, raw: '{}', headers: json }), refused)
      const { raw, headers } = signed(textOf('log.6'))
      assert.deepEqual(await post({ raw, headers: { ...headers, 'content-type': 'text/plain' } }), refused)
    })

    test('a handshake', async () => {
      const good = await logged(server.client.get(handshake('the-verify-token')))
      assert.deepEqual(good, { operation: 'receiver.handshake', status: 200 })
      const wrong = await logged(server.client.get(handshake('another')))
      assert.deepEqual(wrong, { operation: 'receiver.handshake', status: 403 })
    })
  })

  test('the doors of the receiver are counted under these names, with the events that were taken', async () => {
    const counters = [
      'switchboard_request_duration_seconds_count{operation="receiver.post",status="200"}',
      'switchboard_request_duration_seconds_count{operation="receiver.handshake",status="403"}',
      'switchboard_events_received_total{field="messages"}',
    ]
    const readCounters = async () => {
      const { text } = await server.client.get('/metrics')
      return counters.map((name) =>
        Number(
          text
            .split('\n')
            .find((line) => line.startsWith(name))
            ?.split(' ')
            .at(-1) ?? 0,
        ),
      )
    }
    const before = await readCounters()
    const options = { token: tokens.gateway, headers: json, raw: textOf('count.1') }
    await server.client.post(path, options)
    // Taken again, and passed on once.
    await server.client.post(path, options)
    await server.client.get(handshake('another'))
    const after = await readCounters()
    assert.deepEqual(
      after.map((count, index) => count - (before[index] as number)),
      [2, 1, 1],
    )
  })

  test('the doors of the receiver ask for a proof after the headers of the body, and for a content type after the proof', async () => {
    const raw = textOf('order.1')
    assertError(await server.client.post(path, { raw, headers: { 'content-type': '??' } }), requestUnreadable)
    const bytes = new TextEncoder().encode(raw)
    assertError(await server.client.post(path, { raw: bytes }), missingToken())
    assertError(
      await server.client.post(path, { raw: bytes, token: tokens.gateway }),
      contentTypeMissing({ accepted: 'application/json' }),
    )
    const foreign = { 'content-type': '??', 'sec-fetch-site': 'cross-site' }
    assertError(await server.client.post(path, { raw, headers: foreign }), foreignPage())
  })

  describe('know a token that was good a moment ago, and refuse it at once', () => {
    const change = (set: Updateable<TokensTable>) =>
      server.database.transaction(({ query }) =>
        query
          .updateTable('tokens')
          .set(set)
          .where('hash', '=', hashToken(server.database.read, tokens.gateway))
          .execute(),
      )
    const post = (raw: string, headers: Record<string, string> = json) =>
      server.client.post(path, { token: tokens.gateway, raw, headers })
    const countEvents = async () =>
      (await server.database.read.query.selectFrom('events').select('id').execute()).length
    let posts = 0

    /** What a post gets right after a good one, when the token was changed in between; nothing of it is stored. */
    async function postAfter(set: Updateable<TokensTable>, raw?: string, headers?: Record<string, string>) {
      assert.equal((await post(textOf(`good.${posts++}`))).status, 200)
      const before = await countEvents()
      await change(set)
      const answer = await post(raw ?? textOf(`late.${posts++}`), headers)
      assert.equal(await countEvents(), before)
      await change({ revoked_time: null, scopes: ['gateway'], accounts: null, expires_time: null })
      assert.equal((await post(textOf(`good.${posts++}`))).status, 200)
      return answer
    }

    test('a token that was good a moment ago is refused at once when it was revoked, whatever the post holds', async () => {
      const revoked = { revoked_time: 1 }
      assertError(await postAfter(revoked), invalidToken())
      assertError(await postAfter(revoked, '{'), invalidToken())
      assertError(await postAfter(revoked, '{}'), invalidToken())
      assertError(await postAfter(revoked, undefined, { 'content-type': 'text/plain' }), invalidToken())
      const foreign = { ...envelopeOf([messagesChange(textMessage('of.nobody'))]), entry: [{ id: '1', changes: [] }] }
      assertError(await postAfter(revoked, JSON.stringify(foreign)), invalidToken())
    })

    test('a token that was good a moment ago is refused at once when its scope was taken away, it was limited to other accounts, or it has expired', async () => {
      assertError(await postAfter({ scopes: ['operator'] }), lacksPermission(['gateway']))
      assert.equal((await postAfter({ accounts: ['1'] })).status, 404)
      assertError(await postAfter({ expires_time: server.clock.now() }), invalidToken())
    })

    test('a token that was made anew, as by a sandbox that is reset, is accepted at once', async () => {
      assert.equal((await post(textOf(`good.${posts++}`))).status, 200)
      await change({ id: 'made-anew' })
      assert.equal((await post('{}')).status, 400)
      await change({ id: 'made-anew-again' })
      assert.equal((await post(textOf(`good.${posts++}`))).status, 200)
    })

    test('a good one still learns what is wrong with a post', async () => {
      assert.equal((await postAfter({ revoked_time: null }, '{}')).status, 400)
    })
  })

  test('the doors of the receiver take nothing from the query of a post, and a challenge as it came', async () => {
    const options = { token: tokens.gateway, raw: textOf('query.1'), headers: json }
    assert.equal((await server.client.post(`${path}?entry=%ff`, options)).status, 200)
    const odd = await server.client.get(`${handshake('the-verify-token')}%ff`)
    assert.deepEqual([odd.status, odd.text], [200, '1158201444%ff'])
    assert.equal((await server.client.call('HEAD', handshake('the-verify-token'))).status, 200)
  })

  test('the doors of the receiver say what their path takes, and what was perhaps meant', async () => {
    const token = tokens.gateway
    assertError(
      await server.client.call('PUT', path, { token }),
      methodUnknown({ method: 'PUT', methods: 'GET or POST' }),
    )
    for (const method of ['GET', 'POST']) {
      const nearest = `${method} ${path}`
      assertError(await server.client.call(method, '/msgapp/webhook', { token }), pathMisspelt({ method, nearest }))
    }
  })
})
