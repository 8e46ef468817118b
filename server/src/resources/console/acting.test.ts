import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, strangerIds, tokens } from '../../../test/harness/world.ts'
import { insertLink, proofOf } from '../../auth/sessions.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { consoleAppUnseen, invalidToken, missingToken, notFound } from '../../graph/errors.ts'

type Headers = Record<string, string>

onBothDatabases('a session of the console that acts for an app', (engine) => {
  const server = useTestServer({ engine })

  async function signIn(limits: { accounts?: string[]; businesses?: string[] } = {}) {
    const { accounts = null, businesses = null } = limits
    const expires_time = server.clock.now() + 3_600_000
    const code = await server.database.transaction((tx) =>
      insertLink(tx, systemRandom, { name: 'Ada', accounts, businesses, expires_time }),
    )
    const { headers, body } = await server.client.post('/console/session', { headers: { 'x-console-code': code } })
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
    return { id: String(body['token_id']), cookie, 'x-console-proof': String(body['proof']) }
  }
  const asApp = async (app: string, limits = {}): Promise<Headers> => {
    const { id: _, ...proven } = await signIn(limits)
    return { ...proven, 'x-console-app': app }
  }
  const read = (id: string, headers: Headers, token?: string) =>
    server.client.get(`/v23.0/${id}`, { headers, ...(token !== undefined && { token }) })
  const rename = (id: string, headers: Headers, name: string) =>
    server.client.post(`/v23.0/${id}`, { headers, json: { name } })

  test('it reads and writes what a token of that app would, and the audit log has its name', async () => {
    const { id, ...proven } = await signIn()
    const headers = { ...proven, 'x-console-app': ids.application }
    assert.deepEqual((await read(ids.account, headers)).body, (await read(ids.account, {}, tokens.owner)).body)
    const before = (await server.client.get('/operator/tokens', { token: tokens.operator })).body.data.length
    assert.equal((await rename(ids.account, headers, 'Acted')).status, 200)
    assertError(await read(strangerIds.account, headers), notFound())
    const query = { operation: 'account.update', limit: '1' }
    const [record] = (await server.client.get('/operator/audit', { token: tokens.operator, query })).body.data
    assert.deepEqual(
      [record.actor_name, record.actor_token_id, record.actor_app_id, record.actor_business_id],
      ['Ada', id, ids.application, ids.business],
    )
    const after = (await server.client.get('/operator/tokens', { token: tokens.operator })).body.data.length
    assert.equal(after, before, 'no token is created for it')
  })

  test('the log of requests marks what the console sent, for an app or for itself', async () => {
    const { 'x-console-app': _, ...session } = await asApp(ids.application)
    const list = async (operation: string) => {
      const query = { operation, limit: '1', fields: 'id' }
      const { body } = await server.client.get('/operator/requests', { token: tokens.operator, query })
      return body.data[0].by_console
    }
    await read(ids.account, { ...session, 'x-console-app': ids.application })
    assert.equal(await list('account.read'), true)
    await read(ids.account, {}, tokens.owner)
    assert.equal(await list('account.read'), false)
    await server.client.get('/operator/state', { headers: session })
    assert.equal(await list('operator.read_state'), true)
    await server.client.get('/operator/state', { token: tokens.operator })
    assert.equal(await list('operator.read_state'), false)
    await server.client.get('/operator/state')
    assert.equal(await list('operator.read_state'), false, 'of whoever did not prove to be it')
  })

  test('what it sees follows the app of each request', async () => {
    const proven = await asApp(ids.application)
    const theirs = { ...proven, 'x-console-app': strangerIds.application }
    assert.equal((await read(ids.account, proven)).status, 200)
    assertError(await read(ids.account, theirs), notFound())
    assert.equal((await read(strangerIds.account, theirs)).status, 200)
    assertError(await read(strangerIds.account, proven), notFound())
    assertError(await rename(ids.account, theirs, 'Not theirs'), notFound())
  })

  test('every method needs the proof, and no other website gets anything', async () => {
    const headers = await asApp(ids.application)
    const { 'x-console-proof': proof, ...unproven } = headers
    for (const given of [unproven, { ...unproven, 'x-console-proof': `${proof}x` }]) {
      assertError(await read(ids.account, given), missingToken())
      assertError(await rename(ids.account, given, 'Not proven'), missingToken())
    }
    assertError(await read(ids.account, { ...headers, 'sec-fetch-site': 'cross-site' }), missingToken())
    assertError(await read(ids.account, { 'x-console-app': ids.application }), missingToken())
    const { 'x-console-app': _, ...session } = headers
    assert.equal((await read(ids.account, session)).status, 403, 'without the header it is of no app')
  })

  test('403 for what is no app, and for an app that a session with limits does not see', async () => {
    const headers = await asApp(ids.application)
    for (const app of ['', '1234567890123456', ids.account, 'x'.repeat(500)]) {
      assertError(await read(ids.account, { ...headers, 'x-console-app': app }), consoleAppUnseen())
    }
    const limited = await asApp(strangerIds.application, { businesses: [strangerIds.business] })
    assert.equal((await read(strangerIds.account, limited)).status, 200)
    assert.equal((await rename(strangerIds.account, limited, 'Limited')).status, 200)
    assertError(await read(ids.account, limited), notFound())
    assertError(await read(ids.account, { ...limited, 'x-console-app': ids.application }), consoleAppUnseen())
    const ofAccount = await asApp(ids.application, { accounts: [ids.account] })
    assertError(await read(ids.account, ofAccount), consoleAppUnseen())
  })

  test('an account that a session sees besides its businesses is not seen by their apps', async () => {
    const limits = { businesses: [strangerIds.business], accounts: [ids.account] }
    const headers = await asApp(strangerIds.application, limits)
    assert.equal((await rename(strangerIds.account, headers, 'Both')).status, 200)
    assertError(await read(ids.account, headers), notFound())
  })

  test('a session that has ended acts no more', async () => {
    const { id, ...proven } = await signIn()
    const headers = { ...proven, 'x-console-app': ids.application }
    assert.equal((await read(ids.account, headers)).status, 200)
    await server.client.delete(`/operator/tokens/${id}`, { token: tokens.operator })
    assertError(await read(ids.account, headers), invalidToken())
    assertError(await rename(ids.account, headers, 'Ended'), invalidToken())
    const late = await asApp(ids.application)
    server.clock.advance(86_400_000)
    assertError(await read(ids.account, late), invalidToken())
  })

  test('a token acts for its own app, whatever the header says, and none is taken from the cookie', async () => {
    const headers = { 'x-console-app': strangerIds.application }
    assert.equal((await read(ids.account, headers, tokens.owner)).status, 200)
    assertError(await read(strangerIds.account, headers, tokens.operator), notFound())
    const { port } = new URL(server.url)
    for (const token of [tokens.operator, tokens.stranger]) {
      const cookie = `switchboard_${port}=${token}`
      const forged = { ...headers, cookie, 'x-console-proof': proofOf(token) }
      assertError(await read(strangerIds.account, forged), consoleAppUnseen())
    }
  })
})
