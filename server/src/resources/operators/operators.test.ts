import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertArgument, assertError, like } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, numbers, strangerIds, tokens } from '../../../test/harness/world.ts'
import { findCaller } from '../../auth/tokens.ts'
import { argumentWrong, notFound } from '../../graph/errors.ts'
import { expiryTwice, idsUnknown, limitsNeedOperator, notADuration, tokenWiderThanOperator } from './errors.ts'

type Item = Record<string, unknown>

onOneDatabase('the operator door', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const get = (path: string, query: Record<string, string> = {}, token: string = tokens.operator) =>
    server.client.get(`/operator/${path}`, { token, query })
  const post = (path: string, json: object, token: string = tokens.operator) =>
    server.client.post(`/operator/${path}`, { token, json })
  const tokenId = async (token: string) => (await findCaller(server.database.read, token))?.caller.token_id

  test('the log of requests keeps a bounded number of bytes: the newest stay, the oldest fall out', async () => {
    const body = (index: number) => ({ name: `Name ${index}`, filler: 'x'.repeat(20_000) })
    const count = 200
    for (let index = 0; index < count; index++) {
      await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: body(index) })
    }
    const { data } = (await get('requests', { door: 'business', limit: '1000' })).body
    assert.match(data[0].request_body, new RegExp(`^\\{"name":"Name ${count - 1}"`))
    assert.ok(data.every(({ request_body }: Item) => String(request_body ?? '').length <= 16_384))
    const bytes = data.reduce((sum: number, { request_body }: Item) => sum + String(request_body ?? '').length, 0)
    assert.ok(bytes > 1_000_000 && bytes <= 2_097_152, `${bytes} bytes are kept of ${count} bodies`)
  })

  describe('state', () => {
    test('the state for operators says what runs here, what is in it and which processes there are', async () => {
      const { status, body } = await get('state')
      assert.equal(status, 200)
      assert.deepEqual([body.vocabulary, body.versions, body.sandbox], ['msgapp', ['v23.0'], true])
      assert.equal(body.store, server.database.product)
      assert.deepEqual([body.counts.business, body.counts.account, body.counts.phone_number], [3, 5, 5])
      assert.deepEqual(body.lanes, { waiting: 0, down: 0, oldest_age: null })
      assert.deepEqual(
        body.processes.map(({ role, version }: Item) => [role, version]),
        [['all', body.version]],
      )
    })

    test('counts, for an operator with limits, what belongs to these alone', async () => {
      const { body } = await get('state', {}, tokens.limitedOperator)
      assert.deepEqual([body.counts.business, body.counts.account], [1, 1])
    })

    test('the state for operators shows another process while it was heard of in the last minute', async () => {
      const { database, clock } = server
      const heard = async () => (await get('state')).body.processes.map(({ id }: Item) => id)
      await database.transaction(async (tx) => {
        const row = { role: 'worker', version: '9.9.9', started_time: clock.now(), heard_time: clock.now() }
        await tx.query
          .insertInto('processes')
          .values({ id: 'another', ...row })
          .execute()
      })
      assert.ok((await heard()).includes('another'))
      clock.advance(61_000)
      assert.equal((await heard()).length, 1)
    })
  })

  describe('nodes', () => {
    test('nodes are found by a part of a name, a number or an id, in any case', async () => {
      const find = async (q: string) => (await get('nodes', { q })).body.data.map(({ id }: Item) => id)
      assert.deepEqual(await find('tranger llc'), [strangerIds.extended_credit])
      assert.deepEqual(await find('631-555-1009'), [strangerIds.phone_number, strangerIds.account_number])
      assert.ok((await find('16315551003')).includes(numbers.fresh))
      assert.deepEqual(await find(ids.schedule), [ids.schedule])
      assert.deepEqual(await find('100%'), [])
    })

    test('nodes are filtered by kind, business and account, with whose they are', async () => {
      const { body } = await get('nodes', { kind: 'account', business_id: strangerIds.business })
      assert.deepEqual(body.data, [
        {
          id: strangerIds.account,
          kind: 'account',
          name: 'Stranger Account',
          business_id: strangerIds.business,
          account_id: strangerIds.account,
        },
      ])
      const ofAccount = (await get('nodes', { account_id: accounts.shared })).body.data
      assert.deepEqual(ofAccount.map(({ kind }: Item) => kind).sort(), ['account', 'account_number', 'phone_number'])
    })

    test('nodes are paged without a gap for operators', async () => {
      const all = (await get('nodes', { limit: '1000' })).body.data.map(({ id }: Item) => id)
      const seen: unknown[] = []
      let query: Record<string, string> = { limit: '7' }
      for (;;) {
        const { body } = await get('nodes', query)
        seen.push(...body.data.map(({ id }: Item) => id))
        if (body.paging.next === undefined) break
        query = { limit: '7', after: body.paging.cursors.after }
      }
      assert.deepEqual(seen, all)
    })

    test('400 with a kind that there is not', async () => {
      assertError(await get('nodes', { kind: 'tree' }), like(argumentWrong, { argument: 'kind' }))
    })
  })

  describe('tokens', () => {
    test('tokens are made with their secret in the response alone, work, and end when they are revoked', async () => {
      const json = { app_id: ids.application, scopes: ['operator'], businesses: [ids.business], expires: '1h' }
      const made = await post('tokens', json)
      assert.equal(made.status, 200, made.text)
      const { id, token } = made.body
      assert.equal(made.body.expires_time, new Date(server.clock.now() + 3_600_000).toISOString())
      assert.equal((await get('state', {}, token)).body.counts.business, 1)
      const listed = await get('tokens', { limit: '1000' })
      assert.ok(listed.body.data.some((one: Item) => one['id'] === id))
      assert.ok(!listed.text.includes(token))
      const path = `/operator/tokens/${id}`
      assert.deepEqual((await server.client.delete(path, { token: tokens.operator })).body, { success: true })
      assert.equal((await get('state', {}, token)).status, 401)
      const revoked = (await get('tokens', { state: 'revoked' })).body.data
      assert.deepEqual(
        revoked.map((one: Item) => one['id']),
        [id],
      )
    })

    test('tokens of the command line and of the world file are the same: both business scopes when none is given', async () => {
      const { body } = await post('tokens', { app_id: ids.application, expires_at: '2027-01-01T00:00:00Z' })
      assert.deepEqual(body.scopes, ['msgapp_business_management', 'msgapp_business_messaging'])
      const answer = await server.client.get(`/v23.0/${ids.account}`, { token: body.token })
      assert.equal(answer.status, 200)
    })

    for (const [name, json, expected] of [
      ['an unknown app', { app_id: ids.account }, like(idsUnknown, { argument: 'app_id' })],
      ['an unknown account', { accounts: ['1'] }, like(idsUnknown, { argument: 'accounts' })],
      ['an unknown scope', { scopes: ['all'] }, like(argumentWrong, { argument: 'scopes[0]' })],
      ['businesses without the scope', { businesses: [ids.business] }, limitsNeedOperator('businesses')],
      ['a bad lifetime', { expires: 'soon' }, notADuration('expires')],
      ['two ends', { expires: '1h', expires_at: '2027-01-01T00:00:00Z' }, expiryTwice('expires')],
    ] as const) {
      test(`the operator door, tokens: 400 with ${name}`, async () => {
        assertError(await post('tokens', { app_id: ids.application, ...json }), expected)
      })
    }

    test('tokens of an operator with limits see no more than that operator', async () => {
      const app_id = strangerIds.application
      const make = (json: object) => post('tokens', json, tokens.limitedOperator)
      assertError(await make({ app_id: ids.application }), like(idsUnknown, { argument: 'app_id' }))
      assertError(await make({ app_id, accounts: [ids.account] }), like(idsUnknown, { argument: 'accounts' }))
      assertError(await make({ app_id, scopes: ['operator'] }), tokenWiderThanOperator())
      assertError(await make({ app_id, scopes: ['gateway'] }), tokenWiderThanOperator())
      assert.equal((await make({ app_id, scopes: ['gateway'], accounts: [strangerIds.account] })).status, 200)
      assert.equal((await make({ app_id })).status, 200)
      const own = (await get('tokens', { limit: '1000' }, tokens.limitedOperator)).body.data
      assert.ok(own.length >= 3)
      // Its own token is of an app that it does not see.
      const ownId = await tokenId(tokens.limitedOperator)
      for (const one of own) assert.equal(one.business_id, one.id === ownId ? null : strangerIds.business)
      const path = `/operator/tokens/${await tokenId(tokens.owner)}`
      assertError(await server.client.delete(path, { token: tokens.limitedOperator }), notFound())
    })
  })

  describe('the secret of an app', () => {
    const path = `apps/${strangerIds.application}/secret`

    test('the secret of an app is described without it, replaced, and overlaps for a while', async () => {
      const before = (await get(path)).body
      assert.equal(before.previous, null)
      server.clock.advance(1000)
      const rotated = await post(path, { overlap: '1h' })
      assert.match(rotated.body.secret, /^[\da-f]{64}$/)
      const until = new Date(server.clock.now() + 3_600_000).toISOString()
      const { secret, ...facts } = rotated.body
      assert.deepEqual(facts, {
        app_id: strangerIds.application,
        created_time: new Date(server.clock.now()).toISOString(),
        fingerprint: facts.fingerprint,
        previous: { fingerprint: before.fingerprint, until },
      })
      assert.notEqual(facts.fingerprint, before.fingerprint)
      assert.deepEqual((await get(path)).body, facts)
      server.clock.advance(3_600_000)
      assert.equal((await get(path)).body.previous, null)
      assert.ok(!(await get(path)).text.includes(secret))
    })

    test('400 with an overlap that is no duration', async () => {
      assertError(await post(path, { overlap: 'long' }), notADuration('overlap'))
    })

    test('404 for an operator that does not see the app, and for an app that is not there', async () => {
      assertError(await get(`apps/${ids.application}/secret`, {}, tokens.limitedOperator), notFound())
      assertError(await get('apps/1234567890123456/secret'), notFound())
    })
  })

  describe('audit', () => {
    test('the audit log has every write of an operator, with its token and what it was done to', async () => {
      const made = await post('tokens', { app_id: ids.application })
      const { body } = await get('audit', { node_id: made.body.id })
      assert.deepEqual(
        body.data.map(({ operation, node_kind, business_id, actor_token_id, trace }: Item) => [
          operation,
          node_kind,
          business_id,
          actor_token_id,
          trace,
        ]),
        [
          [
            'operator.create_token',
            'token',
            ids.business,
            await tokenId(tokens.operator),
            made.headers.get('x-svctrace-id'),
          ],
        ],
      )
    })

    test('the audit log shows an operator with limits what was done to these alone', async () => {
      await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: { name: 'Shrubs' } })
      await server.client.post(`/v23.0/${strangerIds.account}`, { token: tokens.stranger, json: { name: 'Stranger' } })
      const owners = async (token: string) => {
        const { data } = (await get('audit', { operation: 'account.update' }, token)).body
        return new Set(data.map(({ business_id }: Item) => business_id))
      }
      assert.deepEqual(await owners(tokens.operator), new Set([ids.business, strangerIds.business]))
      assert.deepEqual(await owners(tokens.limitedOperator), new Set([strangerIds.business]))
    })

    test('the audit log is filtered by time', async () => {
      server.clock.advance(60_000)
      await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: { name: 'Shrubs' } })
      assert.equal((await get('audit', { since: '30s' })).body.data.length, 1)
      const now = new Date(server.clock.now()).toISOString()
      assert.ok((await get('audit', { until: now })).body.data.every(({ time }: Item) => String(time) < now))
      assertArgument(await get('audit', { since: 'yesterday' }), 'since')
    })
  })
})
