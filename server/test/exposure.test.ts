import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { demoAppSecrets, demoTokens } from '../src/auth/demo.ts'
import { demoTokenFromElsewhere } from '../src/graph/errors.ts'
import { foreignPage, hostNotServed } from '../src/http/errors.ts'
import { tokenNotExchanged } from '../src/resources/sign-up/exchange-errors.ts'
import { startCommand } from './harness/command.ts'
import { onOneDatabase } from './harness/databases.ts'
import { assertError } from './harness/errors.ts'
import { exchangeBytes, readRawAnswer } from './harness/raw-http.ts'
import { startTestServer, type TestServer, useTestServer } from './harness/server.ts'
import { envelopeOf, messagesChange, signHubByHand, textMessage } from './harness/webhooks.ts'
import { ids, testWorld, tokens } from './harness/world.ts'

/** What other machines and other websites can reach of a server that somebody tries out. */

const account = `/v23.0/${ids.account}`
const authorization = `Authorization: Bearer ${tokens.owner}`

async function send(server: TestServer, lines: readonly string[], body = '') {
  const text = `${lines.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const { status, body: answer } = readRawAnswer(await exchangeBytes(server.url, text))
  const type = answer.trimStart().startsWith('{') ? JSON.parse(answer) : {}
  return { status, body: type }
}

describe('the Host of a request, outside production', () => {
  const server = useTestServer({
    engine: 'sqlite',
    env: { PUBLIC_URL: 'https://api.example.com/base', ALLOWED_HOSTS: 'Other.example,*.below.example' },
  })
  const call = (...headers: string[]) => send(server, [`GET ${account} HTTP/1.1`, ...headers, authorization])

  for (const host of [
    '127.0.0.1',
    '127.0.0.1:8080',
    'localhost',
    'LOCALHOST:8080',
    'localhost.',
    'app.localhost:3000',
    '[::1]:8080',
    '192.168.1.20:8080',
    '203.0.113.9',
    'switchboard:8080',
    'api.example.com',
    'API.example.com:443',
    'other.example',
    'a.below.example',
    'a.b.below.example:80',
  ]) {
    test(`${host} is served`, async () => assert.equal((await call(`Host: ${host}`)).status, 200))
  }

  for (const host of [
    'evil.example',
    'evil.example:8080',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'api.example.com.evil.example',
    'evil-below.example',
    'below.example',
    'x@localhost',
    'localhost:80:80',
    '[::1',
    'a..b',
    '..',
  ]) {
    test(`${host} is refused`, async () => {
      assertError(await call(`Host: ${host}`), hostNotServed)
    })
  }

  test('a request without one is served', async () => {
    const old = `GET ${account} HTTP/1.0\r\n${authorization}\r\n\r\n`
    assert.equal(readRawAnswer(await exchangeBytes(server.url, old)).status, 200)
    assert.equal((await send(server, [`GET ${account} HTTP/1.1`, authorization])).status, 200)
  })

  for (const target of [
    '/',
    '/docs',
    '/openapi.json',
    '/gateway/outbox?to=1',
    '/msgapp/webhooks',
    '/qr/x.svg',
    `/media/${ids.media}`,
  ]) {
    test(`a foreign one is refused at ${target}`, async () => {
      const answer = await send(server, [`GET ${target} HTTP/1.1`, 'Host: evil.example', authorization])
      assertError(answer, hostNotServed({ host: '"evil.example"' }))
    })
  }

  for (const target of ['/healthz', '/readyz', '/readyz/process', '/metrics']) {
    test(`any is served at ${target}`, async () => {
      assert.equal((await send(server, [`GET ${target} HTTP/1.1`, 'Host: probe.example'])).status, 200)
    })
  }
})

describe('the Host of a request, in production', () => {
  const server = useTestServer({ engine: 'sqlite', env: { NODE_ENV: 'production' } })
  const strict = useTestServer({ engine: 'sqlite', env: { NODE_ENV: 'production', ALLOWED_HOSTS: 'api.example.com' } })
  const call = (one: TestServer, host: string) => send(one, [`GET ${account} HTTP/1.1`, `Host: ${host}`, authorization])

  test('the Host of a request is not looked at in production while ALLOWED_HOSTS is unset', async () => {
    assert.equal((await call(server, 'anything.example')).status, 200)
  })

  test('the Host of a request is looked at in production where ALLOWED_HOSTS is set', async () => {
    assert.equal((await call(strict, 'api.example.com')).status, 200)
    assert.equal((await call(strict, '10.0.0.1:8080')).status, 200)
    assert.equal((await call(strict, 'anything.example')).status, 403)
  })
})

onOneDatabase('what a page of another website sends', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp', PUBLIC_URL: 'https://api.example.com/base' } })
  const subscriptions = `/v23.0/${ids.application}/subscriptions`
  const form =
    'object=whatsapp_business_account&fields=messages&verify_token=vt&callback_url=http%3A%2F%2F127.0.0.1%3A1%2F'
  const post = (path: string, headers: readonly string[], body = form) =>
    send(
      server,
      [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1:8080', 'Content-Type: application/x-www-form-urlencoded', ...headers],
      body,
    )

  for (const headers of [
    ['Sec-Fetch-Site: cross-site', 'Origin: https://evil.example'],
    ['Sec-Fetch-Site: cross-site'],
    ['Sec-Fetch-Site: same-site', 'Origin: http://127.0.0.1:3000'],
    ['Origin: https://evil.example'],
    ['Origin: null'],
    ['Origin: https://api.example.com:8443'],
    ['Origin: http://127.0.0.1:3000'],
    ['Origin: http://127.0.0.1:8080.evil.example'],
  ]) {
    test(`a form with a token in its address is refused: ${headers.join(', ')}`, async () => {
      assertError(await post(`${subscriptions}?access_token=${tokens.owner}`, headers), foreignPage())
      const [row] = await server.database.read.query.selectFrom('app_subscriptions').selectAll().execute()
      assert.equal(row, undefined)
    })
  }

  for (const headers of [
    [],
    ['Sec-Fetch-Site: same-origin', 'Origin: http://127.0.0.1:8080'],
    ['Sec-Fetch-Site: none'],
    ['Origin: http://127.0.0.1:8080'],
    ['Origin: https://api.example.com'],
  ]) {
    test(`a request of this site, or of no page, is taken: ${headers.join(', ')}`, async () => {
      const { status } = await post(`${account}?access_token=${tokens.owner}`, headers, 'name=Shrubs')
      assert.equal(status, 200)
    })
  }

  test('a token in the header was sent by whoever has it', async () => {
    const { status } = await post(account, ['Origin: https://evil.example', authorization], 'name=Shrubs')
    assert.equal(status, 200)
  })

  test('a read changes nothing and is answered', async () => {
    const line = `GET ${account}?access_token=${tokens.owner} HTTP/1.1`
    assert.equal((await send(server, [line, 'Host: a', 'Sec-Fetch-Site: cross-site'])).status, 200)
  })
})

/** The world of the tests with the tokens of the demo world. */
function worldWithDemoTokens() {
  const world = testWorld()
  const demo = Object.values(demoTokens).map((token) => ({
    token,
    app_id: ids.application,
    scopes: ['msgapp_business_management', 'msgapp_business_messaging', 'gateway', 'operator'],
  }))
  return { ...world, tokens: [...world.tokens, ...demo] }
}

onOneDatabase('what everybody knows of the demo world', 'sqlite', (engine) => {
  const world = worldWithDemoTokens()
  const server = useTestServer({ engine, world, env: { TRUST_PROXY: '127.0.0.1' } })
  const open = useTestServer({ engine, world, env: { TRUST_PROXY: '127.0.0.1', ALLOW_DEMO_TOKENS: 'true' } })
  const unproxied = useTestServer({ engine, world })
  const elsewhere = { 'x-forwarded-for': '203.0.113.7' }
  const call = (one: TestServer, token: string, headers: Record<string, string> = {}) =>
    one.client.get(account, { token, headers })

  for (const token of Object.values(demoTokens)) {
    test(`${token} is good on this machine alone`, async () => {
      assert.equal((await call(server, token)).status, 200)
      const refused = await call(server, token, elsewhere)
      assertError(refused, demoTokenFromElsewhere())
      assert.equal((await call(server, token)).status, 200)
      assert.equal((await call(open, token, elsewhere)).status, 200)
    })
  }

  test('what everybody knows of the demo world is taken from this machine alone, at every door', async () => {
    const options = { token: demoTokens.gateway, headers: elsewhere }
    assert.equal((await server.client.get('/gateway/outbox', { ...options, query: { to: '1' } })).status, 401)
    assert.equal((await server.client.post('/msgapp/webhooks', { ...options, json: {} })).status, 401)
    assert.equal((await server.client.get(`/media/${ids.media}`, options)).status, 401)
    const operator = { ...options, token: demoTokens.operator }
    assert.equal((await server.client.get('/operator/state', operator)).status, 401)
  })

  test('no demo token is exchanged from elsewhere for one that would be taken from there', async () => {
    const client = { client_id: ids.application, client_secret: 'a-secret-of-its-own' }
    const plain = 'a-token-of-its-own'
    const scopes = ['msgapp_business_messaging']
    const given = testWorld()
    const apps = given.apps.map((app) => (app.id === ids.application ? { ...app, secret: client.client_secret } : app))
    const made = [demoTokens.owner, plain].map((token) => ({ token, app_id: ids.application, scopes }))
    const own = await startTestServer({
      engine,
      world: { ...given, apps, tokens: [...given.tokens, ...made] },
      env: { TRUST_PROXY: '127.0.0.1' },
    })
    const exchange = (fb_exchange_token: string, headers = {}) => {
      const form = { ...client, grant_type: 'fb_exchange_token', fb_exchange_token }
      return own.client.post('/oauth/access_token', { form, headers })
    }
    try {
      assertError(await exchange(demoTokens.owner, elsewhere), tokenNotExchanged())
      assert.equal((await exchange(plain, elsewhere)).status, 200)
      assert.equal((await exchange(demoTokens.owner)).status, 200)
    } finally {
      await own.stop()
    }
  })

  test('a proxy that is not trusted is not this machine either, when it says for whom it asks', async () => {
    assert.equal((await call(unproxied, demoTokens.owner)).status, 200)
    assert.equal((await call(unproxied, demoTokens.owner, elsewhere)).status, 401)
    assert.equal((await call(unproxied, demoTokens.owner, { 'x-forwarded-for': '::1, 127.0.0.1' })).status, 200)
    assert.equal((await call(unproxied, tokens.owner, elsewhere)).status, 200)
  })

  for (const line of [
    'Forwarded: for=203.0.113.7',
    'Via: 1.1 edge',
    'X-Real-IP: 203.0.113.7',
    'X-Forwarded-For: unknown',
    'Host: switchboard',
    'Host: 192.168.1.20:8080',
  ]) {
    test(`demo tokens are not taken from elsewhere, nor what came with ${line}`, async () => {
      const host = line.startsWith('Host') ? [] : ['Host: localhost']
      const ask = (token: string, ...more: string[]) =>
        send(unproxied, [`GET ${account} HTTP/1.1`, ...more, `Authorization: Bearer ${token}`])
      assertError(await ask(demoTokens.owner, ...host, line), demoTokenFromElsewhere())
      assert.equal((await ask(tokens.owner, ...host, line)).status, 200)
      assert.equal((await ask(demoTokens.owner, 'Host: app.localhost:8080', 'X-Real-IP: ::1')).status, 200)
    })
  }

  for (const secret of demoAppSecrets.slice(0, 1)) {
    test(`what ${secret} signs is taken from this machine alone`, async () => {
      const raw = JSON.stringify(envelopeOf([messagesChange(textMessage('m'))]))
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signHubByHand(raw, secret) }
      const post = (one: TestServer, more = {}) =>
        one.client.post('/msgapp/webhooks', { raw, headers: { ...headers, ...more } })
      assert.equal((await post(server)).status, 200)
      assert.equal((await post(server, elsewhere)).status, 401)
      assert.equal((await post(open, elsewhere)).status, 200)
    })
  }
})

describe('the demo world', () => {
  test('the demo world has the tokens and secrets that are not taken from elsewhere, and no others', () => {
    const file = readFileSync(new URL('../../worlds/demo.yaml', import.meta.url), 'utf8')
    const read = (pattern: RegExp) => [...file.matchAll(pattern)].map(([, value]) => value).sort()
    assert.deepEqual(read(/^ {2}- token: (\S+)/gm), Object.values(demoTokens).toSorted())
    assert.deepEqual(read(/^ {4}secret: (\S+)/gm), [...demoAppSecrets].sort())
  })
})

describe('a server that other machines can reach', () => {
  const held = { folder: '' }
  before(async () => {
    held.folder = await mkdtemp(join(tmpdir(), 'switchboard-exposure-'))
  })
  after(() => rm(held.folder, { recursive: true, force: true }))
  const start = (data: string, ...args: string[]) =>
    startCommand(['start', '--port', '0', '--data', join(held.folder, data), ...args], { cwd: held.folder })

  test('a server that other machines can reach says so in its banner and in its log, and opens its demo and its console to this machine alone', async (t) => {
    const server = await start('exposed', '--host', '0.0.0.0')
    t.after(() => server.stop('SIGTERM'))
    await server.shows(/"msg":"other machines can reach this server/)
    await server.shows(/WARNING {2}Other machines can reach this server, and NODE_ENV is not production:/)
    const { port } = new URL(server.url)
    const here = `http://127.0.0.1:${port}`
    const isSignedIn = async (base: string, headers = {}) =>
      JSON.parse(await (await fetch(`${base}/console/session`, { method: 'POST', headers })).text()).signed_in
    assert.match(await (await fetch(`${here}/docs`)).text(), /demo-token/)
    assert.equal(await isSignedIn(here), true)
    // Its own address in the network stands for another machine; one without a network has none.
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    for (const { address } of addresses.filter(({ internal, family }) => !internal && family === 'IPv4')) {
      const base = `http://${address}:${port}`
      assert.equal(await isSignedIn(base), false)
      assert.doesNotMatch(await (await fetch(`${base}/docs`)).text(), /demo-token/)
      const headers = { authorization: 'Bearer demo-token' }
      assert.equal((await fetch(`${base}/v23.0/4000000000000001`, { headers })).status, 401)
    }
    const forwarded = { 'x-forwarded-for': '203.0.113.7' }
    assert.doesNotMatch(await (await fetch(`${here}/docs`, { headers: forwarded })).text(), /demo-token/)
    assert.equal(await isSignedIn(here, forwarded), false)
    await server.shows(/"msg":"a request came through a proxy that TRUST_PROXY does not name/)
    assert.equal((await server.stop('SIGTERM')).code, 0)
  })

  test('a server that other machines cannot reach says nothing of it', async () => {
    const server = await start('alone')
    const { code, stdout, stderr } = await server.stop('SIGTERM')
    assert.equal(code, 0)
    assert.doesNotMatch(stdout + stderr, /other machines/i)
  })
})
