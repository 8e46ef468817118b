import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onBothDatabases, onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError, like } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { handInText } from '../../../../test/harness/webhooks.ts'
import { ids, strangerIds, tokens } from '../../../../test/harness/world.ts'
import { insertLink, proofHeader, proofOf } from '../../../auth/sessions.ts'
import { findCaller } from '../../../auth/tokens.ts'
import { systemRandom } from '../../../base/keys/random.ts'
import { invalidToken, notFound } from '../../../graph/errors.ts'
import { notADuration } from '../errors.ts'

type Item = Record<string, unknown>
const hour = 3_600_000

/** Tokens for the doors of the service, and sessions of the console, which belong to nobody's app. */
onBothDatabases('tokens of the service', (engine) => {
  const server = useTestServer({ engine })
  const asOperator = { token: tokens.operator }
  const idOf = async (secret: string) => String((await findCaller(server.database.read, secret))?.caller.token_id)

  async function make(json: object, as: object = asOperator): Promise<{ token: string; id: string } & Item> {
    const answer = await server.client.post('/operator/tokens', { ...as, json: { app_id: ids.application, ...json } })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }
  const makeLimited = () => make({ scopes: ['operator'], businesses: [ids.business] })
  const list = async (path: string, token: string): Promise<Item[]> =>
    (await server.client.get(`/operator/${path}`, { token, query: { limit: '1000' } })).body.data

  /** Somebody who signed in by a link, with what a page of the console sends. */
  async function signIn(): Promise<{ id: string; expires: string; headers: Record<string, string> }> {
    const link = { name: 'Ada', accounts: null, businesses: null, expires_time: server.clock.now() + hour }
    const code = await server.database.transaction((tx) => insertLink(tx, systemRandom, link))
    const { body, headers } = await server.client.post('/console/session', { headers: { 'x-console-code': code } })
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';')
    const proof = proofOf(cookie.slice(cookie.indexOf('=') + 1))
    const found = (await list('tokens', tokens.operator)).find(({ id }) => id === body.token_id)
    return { id: body.token_id, expires: String(found?.['expires_time']), headers: { cookie, [proofHeader]: proof } }
  }

  test('tokens of the service are seen and revoked by who sees at least as much, whatever their app', async () => {
    const limited = await makeLimited()
    const sibling = await makeLimited()
    const ofAccount = await make({ scopes: ['gateway'], accounts: [ids.account] })
    const mixed = await make({ scopes: ['operator', 'msgapp_business_messaging'], accounts: [ids.account] })
    const session = await signIn()
    const listed = (await list('tokens', limited.token)).map(({ id }) => id)
    const wider = [
      session.id,
      ...(await Promise.all([tokens.operator, tokens.gateway, tokens.limitedOperator].map(idOf))),
    ]
    for (const id of [limited.id, sibling.id, ofAccount.id, mixed.id, await idOf(tokens.owner)]) {
      assert.ok(listed.includes(id), id)
    }
    for (const id of wider) {
      assert.ok(!listed.includes(id), id)
      assertError(await server.client.delete(`/operator/tokens/${id}`, { token: limited.token }), notFound())
    }
    for (const { id, token } of [sibling, ofAccount]) {
      assert.equal((await server.client.delete(`/operator/tokens/${id}`, { token: limited.token })).status, 200)
      assert.equal(await findCaller(server.database.read, token), undefined)
    }
    assert.equal((await server.client.get('/operator/state', asOperator)).status, 200)
    const [own] = (await list('tokens', tokens.operator)).filter(({ id }) => id === session.id)
    assert.deepEqual([own?.['app_id'], own?.['business_id'], own?.['session_name']], [null, null, 'Ada'])
  })

  test('tokens of the service are nobody else’s, nor what was done with them', async () => {
    const limited = await makeLimited()
    const { id, headers } = await server.client
      .post('/operator/tokens', {
        ...asOperator,
        json: { app_id: ids.application, scopes: ['operator'] },
      })
      .then(({ body, headers }) => ({ id: body.id, headers }))
    const trace = headers.get('x-svctrace-id')
    await server.client.get('/operator/state', asOperator)
    await handInText(server, `of.the.service.${engine}`)
    const own = await make({ scopes: ['operator'], businesses: [ids.business] }, { token: limited.token })

    const records = await list('audit', limited.token)
    assert.ok(!records.some(({ node_id }) => node_id === id))
    assert.ok(
      records.some(({ node_id }) => node_id === own.id),
      'what it did itself',
    )
    assert.ok((await list('audit', tokens.operator)).some((one) => one['node_id'] === id && one['business_id'] === ''))
    assertError(await server.client.get(`/operator/traces/${trace}`, { token: limited.token }), notFound())

    await server.client.get(`/v23.0/${ids.account}`, { token: tokens.owner })
    const requests = await list('requests', limited.token)
    assert.ok(requests.length > 0)
    for (const { door, business_id } of requests) assert.deepEqual([door, business_id], ['business', ids.business])
    assert.ok((await list('requests', tokens.operator)).some(({ door }) => door === 'gateway' || door === 'receiver'))
  })

  test('the business of a request of a partner is the one whose node it is about', async () => {
    await server.client.get(`/v23.0/${ids.account}`, { token: tokens.partner })
    const [request] = await list('requests', tokens.operator)
    assert.equal(request?.['status'], 404)
    assert.notEqual(request?.['business_id'], ids.business)
  })

  test('tokens of the service made by a session end with it, unless their end is given, and are revoked with it', async () => {
    const session = await signIn()
    const as = { headers: session.headers }
    const short = await make({ scopes: ['operator'] }, as)
    const long = await make({ scopes: ['gateway'], expires: '60d' }, as)
    const second = await make({ scopes: ['operator'] }, { token: short.token })
    const ofBusiness = await make({}, as)
    assert.deepEqual([short['expires_time'], second['expires_time']], [session.expires, session.expires])
    assert.equal(long['expires_time'], new Date(server.clock.now() + 60 * 24 * hour).toISOString())
    assert.equal(ofBusiness['expires_time'], null)
    for (const { made_by } of [short, long, second, ofBusiness]) assert.equal(made_by, session.id)
    assert.equal((await make({ scopes: ['operator'] }))['expires_time'], null, 'made by a token, it has no end')

    assert.equal((await server.client.delete(`/operator/tokens/${session.id}`, asOperator)).status, 200)
    for (const { token } of [short, second]) {
      assertError(await server.client.get('/operator/state', { token }), invalidToken())
    }
    assert.equal(await findCaller(server.database.read, long.token), undefined)
    assert.equal((await server.client.get(`/v23.0/${ids.account}`, { token: ofBusiness.token })).status, 200)
  })

  test('tokens of the service made by a session stay when their maker signs out', async () => {
    const session = await signIn()
    const made = await make({ scopes: ['operator'], expires: '1h' }, { headers: session.headers })
    const signedOut = await server.client.delete(`/operator/tokens/${session.id}`, { headers: session.headers })
    assert.equal(signedOut.status, 200)
    assert.equal((await server.client.get('/operator/state', { token: made.token })).status, 200)
  })

  for (const expires of ['999999999d', '99999999d', '9999999d', '0d']) {
    test(`400 for a lifetime of ${expires}, and for an overlap of secrets that ends as late`, async () => {
      const json = { app_id: ids.application, expires }
      assertError(await server.client.post('/operator/tokens', { ...asOperator, json }), like(notADuration, {}))
      if (expires === '0d') return
      const path = `/operator/apps/${strangerIds.application}/secret`
      const answer = await server.client.post(path, { ...asOperator, json: { overlap: expires } })
      assertError(answer, like(notADuration, {}))
    })
  }

  test('401 for who waits when the token is revoked meanwhile', async () => {
    const waiting = await makeLimited()
    const waited = server.client.get('/operator/wait', {
      token: waiting.token,
      query: { type: 'event', timeout: '20s' },
    })
    // By then it waits; if not, it is refused at once.
    for (let time = 0; time < 10; time++) await server.client.get('/operator/state', asOperator)
    await server.client.delete(`/operator/tokens/${waiting.id}`, asOperator)
    await handInText(server, `while.waiting.${engine}`)
    assertError(await waited, invalidToken())
  })
})

onOneDatabase('streams', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { MAX_STREAMS: '20' } })

  /** Opens streams until one is refused; returns how many there were. */
  async function fill(t: TestContext, token: string, path: string): Promise<number> {
    const stop = new AbortController()
    // Held to the end: fetch ends the stream of a response that is collected as garbage.
    const opened: Response[] = []
    t.after(() => {
      stop.abort()
      assert.ok(opened.every(({ bodyUsed }) => !bodyUsed))
    })
    for (;;) {
      const headers = { authorization: `Bearer ${token}` }
      const response = await fetch(`${server.url}${path}`, { headers, signal: stop.signal })
      if (response.status === 429) return opened.length
      assert.equal(response.status, 200)
      opened.push(response)
    }
  }

  for (const path of ['/operator/stream', '/gateway/stream']) {
    test(`${path}: a token that sees some tenants takes a tenth of them, all such three quarters`, async (t) => {
      const scopes = ['operator', 'gateway']
      const made = async () => {
        const json = { app_id: strangerIds.application, scopes, businesses: [strangerIds.business] }
        return (await server.client.post('/operator/tokens', { token: tokens.operator, json })).body.token
      }
      const counts = []
      for (let index = 0; index < 9; index++) counts.push(await fill(t, await made(), path))
      assert.deepEqual(counts, [2, 2, 2, 2, 2, 2, 2, 1, 0])
      assert.equal(await fill(t, path.startsWith('/operator') ? tokens.operator : tokens.gateway, path), 5)
      const waiting = { token: await made(), query: { type: 'event', timeout: '1s' } }
      if (path === '/operator/stream') assert.equal((await server.client.get('/operator/wait', waiting)).status, 429)
    })
  }
})
