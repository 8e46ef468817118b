import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { ids, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { insertLink } from '../../auth/sessions.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { hashSource } from '../../replies/page.ts'

const hour = 3_600_000

interface SignedIn {
  readonly body: Record<string, unknown>
  readonly status: number
  readonly cookie: string
  readonly setCookie: string
}

async function signIn(server: TestServer, headers: Record<string, string> = {}): Promise<SignedIn> {
  const answer = await server.client.post('/console/session', { headers })
  const setCookie = answer.headers.get('set-cookie') ?? ''
  return { status: answer.status, body: answer.body, setCookie, cookie: setCookie.split(';')[0] ?? '' }
}

async function makeCode(server: TestServer, limits: { accounts?: string[]; businesses?: string[] } = {}) {
  const { accounts = null, businesses = null } = limits
  return server.database.transaction((tx) =>
    insertLink(tx, systemRandom, {
      name: 'Ada',
      accounts,
      businesses,
      expires_time: server.clock.now() + hour,
    }),
  )
}

onOneDatabase('signing in to the console', 'sqlite', (engine) => {
  describe('on the machine of a sandbox', () => {
    // Without workers: sweeps, which a clock that is moved starts, write too.
    const server = useTestServer({ engine, env: { ROLE: 'api' } })
    const state = (headers: Record<string, string>) => server.client.get('/operator/state', { headers })

    test('nobody signs in: the cookie reads as an operator and as the phones, and is the same for all visitors', async () => {
      const { body, cookie, setCookie } = await signIn(server)
      assert.equal(body['signed_in'], true)
      assert.match(setCookie, /^switchboard_\d+=sb_[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/)
      assert.equal((await state({ cookie })).status, 200)
      assert.equal((await server.client.get('/gateway/users/16505551234', { headers: { cookie } })).status, 200)
      assert.equal((await signIn(server)).body['token_id'], body['token_id'])
      assert.equal((await signIn(server, { cookie })).body['token_id'], body['token_id'])
      assert.equal((await server.client.get(`/v23.0/${ids.account}`, { headers: { cookie } })).status, 403)
    })

    test('a write needs the proof, and no other page gets anything by the cookie', async () => {
      const { body, cookie } = await signIn(server)
      const write = (headers: Record<string, string>) =>
        server.client.post('/operator/tokens', { headers, json: { app_id: ids.application } })
      const proof = String(body['proof'])
      assert.equal((await write({ cookie, 'x-console-proof': proof })).status, 200)
      assert.equal((await write({ cookie })).status, 401)
      assert.equal((await write({ cookie, 'x-console-proof': `${proof}x` })).status, 401)
      assert.equal((await write({ cookie, 'x-console-proof': proof, 'sec-fetch-site': 'cross-site' })).status, 403)
      for (const site of ['cross-site', 'same-site']) {
        assert.equal((await state({ cookie, 'sec-fetch-site': site })).status, 401)
        assert.equal((await signIn(server, { 'sec-fetch-site': site })).status, 403)
      }
      assert.equal((await state({ cookie, origin: 'http://127.0.0.1:3000' })).status, 401)
      assert.equal((await signIn(server, { origin: 'http://evil.example' })).status, 403)
    })

    test('not by another name in Host, nor through a proxy from elsewhere', async () => {
      const { port } = new URL(server.url)
      assert.equal((await signIn(server, { host: `evil.example:${port}` })).status, 403)
      assert.equal((await signIn(server, { host: `machine:${port}` })).body['signed_in'], false)
      assert.equal((await signIn(server, { 'x-forwarded-for': '203.0.113.9' })).body['signed_in'], false)
      assert.equal((await signIn(server, { host: `localhost:${port}` })).body['signed_in'], true)
    })

    test('when the session of the machine of a sandbox is ended, the next visits begin one other', async () => {
      const { body: first, cookie } = await signIn(server)
      const token_id = String(first['token_id'])
      const { status } = await server.client.delete(`/operator/tokens/${token_id}`, { token: tokens.operator })
      assert.equal(status, 200)
      assert.equal((await state({ cookie })).status, 401)
      const next = await Promise.all([signIn(server), signIn(server), signIn(server, { cookie })])
      assert.equal(new Set(next.map(({ body }) => body['token_id'])).size, 1)
      assert.notEqual(next[0].body['token_id'], token_id)
      assert.equal((await state({ cookie: next[0].cookie })).status, 200)
    })

    test('first visits of one moment begin one session by one write, and a visit with its cookie writes nothing', async (t) => {
      server.clock.advance(25 * hour)
      const write = t.mock.method(server.database, 'transaction')
      const visits = await Promise.all(Array.from({ length: 16 }, () => signIn(server)))
      assert.equal(new Set(visits.map(({ body }) => body['token_id'])).size, 1)
      assert.equal(write.mock.callCount(), 1)
      const cookie = visits[0]?.cookie ?? ''
      assert.equal((await signIn(server, { cookie })).body['token_id'], visits[0]?.body['token_id'])
      assert.equal(write.mock.callCount(), 1)
    })

    test('visits to the machine of a sandbox sign in to an empty store too, where the session can apply a world and goes on afterwards', async () => {
      const emptied = await server.client.post('/operator/reset', { token: tokens.operator, json: { world: {} } })
      assert.equal(emptied.status, 200, emptied.text)
      const { body, cookie } = await signIn(server)
      assert.equal(body['signed_in'], true)
      const listed = await server.client.get('/operator/tokens', { headers: { cookie } })
      assert.deepEqual(
        listed.body.data.map(({ id, app_id, business_id }: Record<string, unknown>) => [id, app_id, business_id]),
        [[body['token_id'], null, null]],
      )
      const headers = { cookie, 'x-console-proof': String(body['proof']) }
      const applied = await server.client.post('/operator/world', { headers, json: testWorld() })
      assert.equal(applied.status, 200, applied.text)
      assert.equal((await server.client.get('/gateway/users/16505551234', { headers: { cookie } })).status, 200)
      const ended = await server.client.delete(`/operator/tokens/${body['token_id']}`, { headers })
      assert.equal(ended.status, 200, ended.text)
      const records = (await server.client.get('/operator/audit?limit=2', { token: tokens.operator })).body.data
      assert.deepEqual(
        records.map((one: Record<string, unknown>) => [one['operation'], one['actor_token_id'], one['actor_app_id']]),
        [
          ['operator.revoke_token', body['token_id'], ''],
          ['operator.apply_world', body['token_id'], ''],
        ],
      )
    })

    test('a session lasts two periods at most, and its page makes a new one', async () => {
      const { cookie, body } = await signIn(server)
      server.clock.advance(25 * hour)
      assert.equal((await state({ cookie })).status, 401)
      const renewed = await signIn(server, { cookie })
      assert.equal(renewed.body['signed_in'], true)
      assert.notEqual(renewed.body['token_id'], body['token_id'])
    })
  })

  describe('elsewhere', () => {
    const server = useTestServer({
      engine,
      env: { ROLE: 'api', SANDBOX: 'off', PUBLIC_URL: 'https://switchboard.example' },
    })
    const list = async (headers: Record<string, string>, path: string) =>
      (await server.client.get(path, { headers })).body.data as Record<string, string>[]

    test('nobody is signed in without a link, which works once and is not stored', async () => {
      assert.deepEqual((await signIn(server)).body, { signed_in: false, reason: 'sign_in' })
      const code = await makeCode(server)
      const { cookie, setCookie, body } = await signIn(server, { 'x-console-code': code })
      assert.match(setCookie, /^__Host-switchboard=.*; HttpOnly; SameSite=Strict; Secure$/)
      assert.equal(body['name'], 'Ada')
      const audited = async () => list({ cookie }, '/operator/audit?operation=public.sign_in')
      const [record] = await audited()
      assert.deepEqual([record?.['actor_token_id'], record?.['actor_name']], [body['token_id'], 'Ada'])
      assert.equal(record?.['node_kind'], 'token')
      assert.equal((await signIn(server, { 'x-console-code': code })).status, 403)
      assert.equal((await audited()).length, 1, 'a link that is refused is no sign-in')
      assert.equal((await signIn(server, { 'x-console-code': 'sb_made-up' })).status, 403)
      assert.equal((await server.client.get('/operator/state', { headers: { cookie } })).status, 200)
    })

    test('a wrong code is looked up and writes nothing', async (t) => {
      const code = await makeCode(server)
      const write = t.mock.method(server.database, 'transaction')
      assert.equal((await signIn(server, { 'x-console-code': `${code}x` })).status, 403)
      assert.equal(write.mock.callCount(), 0)
      assert.equal((await signIn(server, { 'x-console-code': code })).body['signed_in'], true)
      assert.equal(write.mock.callCount(), 1)
    })

    test('over https the cookie of the console counts under the name alone that no other host can set', async () => {
      const { cookie } = await signIn(server, { 'x-console-code': await makeCode(server) })
      const secret = cookie.slice(cookie.indexOf('=') + 1)
      const { port } = new URL(server.url)
      const state = async (given: string) =>
        (await server.client.get('/operator/state', { headers: { cookie: given } })).status
      assert.equal(await state(cookie), 200)
      for (const name of [`switchboard_${port}`, 'switchboard_443', 'switchboard', '__Secure-switchboard']) {
        assert.equal(await state(`${name}=${secret}`), 401, name)
      }
    })

    test('a link ends with its time; a session is listed and ended like a token, and after 12 hours', async () => {
      const late = await makeCode(server)
      server.clock.advance(hour)
      assert.equal((await signIn(server, { 'x-console-code': late })).status, 403)
      const { cookie, body } = await signIn(server, { 'x-console-code': await makeCode(server) })
      const listed = await list({ cookie }, '/operator/tokens?limit=100')
      assert.equal(listed.find(({ id }) => id === body['token_id'])?.['session_name'], 'Ada')
      const other = await signIn(server, { 'x-console-code': await makeCode(server) })
      const ended = await server.client.delete(`/operator/tokens/${other.body['token_id']}`, { token: tokens.operator })
      assert.equal(ended.status, 200)
      const read = (one: SignedIn) => server.client.get('/operator/state', { headers: { cookie: one.cookie } })
      assert.equal((await read(other)).status, 401)
      assert.equal((await signIn(server, { cookie: other.cookie })).body['signed_in'], false)
      server.clock.advance(12 * hour)
      assert.equal((await server.client.get('/operator/state', { headers: { cookie } })).status, 401)
    })

    test('a sign-in that is limited to an account sees that alone, at both doors', async () => {
      const code = await makeCode(server, { accounts: [ids.account] })
      const { cookie, body } = await signIn(server, { 'x-console-code': code })
      assert.equal(body['limited'], true)
      const nodes = await list({ cookie }, '/operator/nodes?kind=account')
      assert.deepEqual(
        nodes.map(({ id }) => id),
        [ids.account],
      )
      const proof = { 'x-console-proof': String(body['proof']) }
      const wide = { app_id: ids.application, scopes: ['operator'] }
      const made = await server.client.post('/operator/tokens', { headers: { cookie, ...proof }, json: wide })
      assert.ok(made.status >= 400)
    })

    test('a sign-in that is limited to a business sees all its accounts, those of later too, and no other', async () => {
      const code = await makeCode(server, { businesses: [strangerIds.business] })
      const { cookie, body } = await signIn(server, { 'x-console-code': code })
      const accounts = async () => (await list({ cookie }, '/operator/nodes?kind=account')).map(({ id }) => id)
      const read = async (phone_number_id: string) => {
        const path = `/gateway/users/16505551234/messages?phone_number_id=${phone_number_id}`
        return (await server.client.get(path, { headers: { cookie } })).status
      }
      assert.deepEqual(await accounts(), [strangerIds.account])
      assert.deepEqual([await read(strangerIds.phone_number), await read(ids.phone_number)], [200, 404])
      const phone_numbers = [{ id: '4000000000000098', display_phone_number: '+1 631-555-1098', registered: true }]
      const added = { id: '1000000000000098', business_id: strangerIds.business, name: 'Later', phone_numbers }
      const json = { accounts: [added] }
      assert.equal((await server.client.post('/operator/world', { token: tokens.operator, json })).status, 200)
      assert.deepEqual((await accounts()).sort(), [strangerIds.account, added.id])
      assert.equal(await read('4000000000000098'), 200)
      assert.equal((await list({ cookie }, '/gateway/templates')).length, 1)
      const headers = { cookie, 'x-console-proof': String(body['proof']) }
      assert.equal((await server.client.delete(`/operator/tokens/${body['token_id']}`, { headers })).status, 200)
      assert.equal((await server.client.get('/operator/state', { headers: { cookie } })).status, 401)
    })
  })
})

describe('the page of the console', () => {
  const server = useTestServer({ engine: 'sqlite' })
  const off = useTestServer({ engine: 'sqlite', env: { CONSOLE: 'off' } })

  test('the page of the console has its frame before its script, allows nothing but its own files, and these are cached for ever', async () => {
    const page = await server.client.get('/')
    assert.equal(page.status, 200)
    const policy = page.headers.get('content-security-policy') ?? ''
    assert.match(
      policy,
      /^default-src 'none'; script-src 'self' 'sha256-[^']+'; style-src 'self';.*frame-ancestors 'none'$/,
    )
    assert.doesNotMatch(policy, /unsafe/)
    assert.equal(page.headers.get('permissions-policy'), 'microphone=(self)')
    const [, inline = ''] = /<script>([^<]*)<\/script>/.exec(page.text) ?? []
    assert.ok(policy.includes(hashSource(inline)), 'the one script in the page is allowed')
    assert.doesNotMatch(page.text.replace(`<script>${inline}`, ''), /<script>|<style|style=/)
    const links = (text: string) => text.match(/(?<=<li><a href=")\/[^"]*/g)
    assert.equal(links(page.text)?.join(' '), '/ /live /deliveries /connect /calls /resources /sandbox /access /docs')
    const one = await server.client.get('/deliveries/17')
    assert.match(one.text, /<a href="\/deliveries" data-in="" aria-current="page"/)
    assert.match((await server.client.get('/live')).text, /<h1>Live<\/h1>/)
    const etag = String(one.headers.get('etag'))
    const again = await server.client.get('/deliveries/17', { headers: { 'if-none-match': etag } })
    assert.deepEqual([again.status, again.headers.get('content-type')], [304, null])
    assert.deepEqual(links((await server.client.get('/docs')).text), links(page.text))
    // Whoever has to sign in first does not see a frame that goes away again.
    const stranger = await server.client.get('/live', { headers: { 'x-forwarded-for': '203.0.113.7' } })
    assert.match(stranger.text, /<main class="sign-in">/)
    assert.doesNotMatch(stranger.text, /class="rail"/)
    const known = { 'x-forwarded-for': '203.0.113.7', cookie: (await signIn(server)).cookie }
    assert.match((await server.client.get('/live', { headers: known })).text, /class="rail"/)
    const names = [...page.text.matchAll(/\/console\/([\w-]+\.(?:js|css))/g)].map(([, name]) => name)
    const first = new Set(names)
    names.push(/<meta name="switchboard-worker" content="([\w-]+\.js)">/.exec(page.text)?.[1] ?? 'no worker')
    let bytes = 0
    // Every part of the script is served by its name, also one that a page loads later.
    for (const name of names) {
      const file = await fetch(`${server.url}/console/${name}`, { headers: { 'accept-encoding': 'br' } })
      assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(file.headers.get('content-encoding'), 'br')
      // A worker has the policy of its own response, not the one of its page.
      assert.equal(file.headers.get('content-security-policy'), "default-src 'none'; connect-src 'self'")
      const length = Number(file.headers.get('content-length'))
      if (first.has(name)) bytes += length
      assert.ok(length <= 30_000, `${name} has ${length} bytes on the wire`)
      for (const [part] of (await file.text()).matchAll(/part-\w+\.js/g)) if (!names.includes(part)) names.push(part)
    }
    assert.ok(names.length > first.size + 10, 'every page has a part of its own')
    // With the part of one page, which has at most 30 kB, the first page stays within 90 kB.
    assert.ok(bytes <= 60_000, `${bytes} bytes on the wire`)
    assert.equal((await server.client.get('/console/nothing.js')).status, 404)
  })

  test('the page of the console is left out with CONSOLE=off: the start page says so, and everything else works', async () => {
    const page = await off.client.get('/live')
    assert.match(page.text, /The console is off: CONSOLE=off\./)
    assert.equal((await off.client.get('/operator/state', { token: tokens.operator })).status, 200)
  })

  test('has the same reference in its frame as stands alone with CONSOLE=off', async () => {
    const [framed = '', alone = ''] = await Promise.all(
      [server, off].map(async ({ client, url }) => {
        const { text } = await client.get('/docs')
        return /<div class="reference".*(?=<\/main>)/s.exec(text)?.[0].replaceAll(url, 'URL')
      }),
    )
    assert.ok(framed.length > 100_000, `${framed.length} characters`)
    // Said by the lengths first: a difference of long texts takes long to draw.
    assert.equal(framed.length, alone.length)
    assert.ok(framed === alone)
  })
})
