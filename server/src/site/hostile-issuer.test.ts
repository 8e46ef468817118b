import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { listenForTest } from '../../test/harness/sink.ts'
import { until } from '../../test/harness/until.ts'
import { findAllowed, parseAllowed } from '../auth/allowed-operators.ts'
import { SignInFailed } from '../auth/sign-in-failed.ts'
import { type Log, silentLog } from '../base/log/log.ts'
import { ManualClock } from '../base/time/clock.ts'
import { hour, minute } from '../base/time/duration.ts'
import { Issuer } from './issuer.ts'

const client = 'switchboard'
const begun = { state: 's'.repeat(43), nonce: 'n'.repeat(43), verifier: 'v'.repeat(43) }
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

type Answer = object | string | ((response: ServerResponse, request: IncomingMessage) => void)

/** An issuer that says whatever a test wants it to. */
class HostileIssuer {
  url = ''
  readonly asked: string[] = []
  metadata: Record<string, unknown> = {}
  claims: Record<string, unknown> = {}
  answers: Record<string, Answer> = {}

  async listen(t: TestContext): Promise<void> {
    const server = createServer((request, response) => {
      const path = request.url ?? ''
      this.asked.push(path)
      const answer = this.answers[path] ?? this.#usual(path)
      if (typeof answer === 'function') answer(response, request)
      else {
        response.setHeader('content-type', 'application/json')
        response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
      }
    })
    const { port } = await listenForTest(t, server)
    this.url = `http://127.0.0.1:${port}`
    t.after(() => server.closeAllConnections())
  }

  #usual(path: string): object {
    if (path === '/jwks') return { keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] }
    if (path === '/token') return { access_token: 'a', token_type: 'bearer', id_token: this.#sign() }
    if (path === '/userinfo') return { sub: 'ada' }
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/jwks`,
      userinfo_endpoint: `${this.url}/userinfo`,
      end_session_endpoint: `${this.url}/end`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      ...this.metadata,
    }
  }

  #sign(): string {
    const now = Math.floor(Date.now() / 1000)
    const usual = { iss: this.url, aud: client, sub: 'ada', nonce: begun.nonce, iat: now, exp: now + 60 }
    const parts = [{ alg: 'ES256' }, { ...usual, ...this.claims }]
    const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
    return `${text}.${signature.toString('base64url')}`
  }
}

async function start(t: TestContext, { log = silentLog }: { log?: Log } = {}) {
  const hostile = new HostileIssuer()
  await hostile.listen(t)
  const clock = new ManualClock(Date.now())
  const allow = parseAllowed('ada@example.com,group:operators')
  const settings = {
    issuer: hostile.url,
    clientId: client,
    clientSecret: 'secret of the client',
    scopes: 'openid email',
    groupsClaim: 'groups',
    allow,
  }
  const issuer = new Issuer(settings, { clock, log })
  const finish = () => issuer.finish(new URL(`http://127.0.0.1/callback?code=c&state=${begun.state}`), begun)
  const begin = () => issuer.begin('http://127.0.0.1/callback', begun)
  const whoMay = async () => findAllowed(allow, await finish(), 'groups')?.name
  return { hostile, clock, issuer, begin, finish, whoMay }
}

const failsAs = (problem: string) => (error: unknown) => error instanceof SignInFailed && error.problem === problem

describe('a hostile issuer', () => {
  test('a hostile issuer is no fault of the service: an address that it cannot have is refused, and asked for again', async (t) => {
    const { hostile, begin } = await start(t)
    for (const address of [
      undefined,
      'nonsense',
      '/authorize',
      'javascript:alert(1)',
      'file:///etc',
      7,
      `http://a/${'b'.repeat(3000)}`,
    ]) {
      hostile.metadata = { authorization_endpoint: address }
      await assert.rejects(begin(), failsAs('unreachable'), String(address))
    }
    hostile.metadata = {}
    assert.ok((await begin()).href.startsWith(`${hostile.url}/authorize?`))
  })

  test('an issuer is asked to ask who it is in a way that it knows, if it says which it knows', async (t) => {
    for (const [prompt_values_supported, expected] of [
      [undefined, 'select_account'],
      [['none', 'select_account'], 'select_account'],
      [['none', 'login'], 'login'],
    ] as const) {
      const { hostile, issuer } = await start(t)
      hostile.metadata = { prompt_values_supported }
      const promptOf = async (again: boolean) =>
        (await issuer.begin('http://127.0.0.1/callback', begun, again)).searchParams.get('prompt')
      assert.deepEqual([await promptOf(true), await promptOf(false)], [expected, null])
    }
  })

  test('a hostile issuer cannot lend the address of one source what another says of it', async (t) => {
    const { hostile, whoMay } = await start(t)
    hostile.claims = { email: 'ada@example.com' }
    hostile.answers['/userinfo'] = { sub: 'ada', email: 'eve@example.com', email_verified: true }
    assert.equal(await whoMay(), undefined)
    hostile.claims = { email: 'eve@example.com', email_verified: true }
    hostile.answers['/userinfo'] = { sub: 'ada', email: 'ada@example.com' }
    assert.equal(await whoMay(), undefined)
    hostile.claims = {}
    hostile.answers['/userinfo'] = { sub: 'ada', email: 'ada@example.com', email_verified: true }
    assert.equal(await whoMay(), 'ada@example.com')
  })

  test('a hostile issuer signs nobody in by a token for another client, of the future, or of nobody', async (t) => {
    const { hostile, finish } = await start(t)
    const later = Math.floor(Date.now() / 1000) + 7200
    for (const claims of [{ azp: 'another' }, { iat: later, exp: later + 60 }, { sub: '' }]) {
      hostile.claims = claims
      await assert.rejects(finish(), failsAs('refused'), JSON.stringify(claims))
    }
    hostile.claims = { azp: client }
    assert.equal((await finish())['sub'], 'ada')
  })

  test('a hostile issuer writes nothing of its own into the log, and not much', async (t) => {
    const { hostile, finish } = await start(t)
    for (const body of [
      { error: 'invalid_grant', code: 'CODE-SECRET', message: 'HIDDEN' },
      { error: 'x'.repeat(10_000), message: 'HIDDEN' },
    ]) {
      hostile.answers['/token'] = (response) => {
        response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      }
      await assert.rejects(finish(), (error: Error) => {
        assert.ok(error.message.length < 400, error.message)
        assert.doesNotMatch(error.message, /HIDDEN|CODE-SECRET/)
        return failsAs('refused')(error)
      })
    }
  })

  test('a hostile issuer that falls silent is asked once a minute; what it said before counts, and nobody waits to sign out', async (t) => {
    const { hostile, clock, issuer, begin } = await start(t)
    await begin()
    const discovery = '/.well-known/openid-configuration'
    hostile.answers[discovery] = (response) => void response.socket?.destroy()
    const count = () => hostile.asked.filter((path) => path === discovery).length
    const before = count()
    clock.advance(hour + 1)
    await begin()
    const after = count()
    assert.ok(after > before)
    for (let time = 0; time < 3; time++) await begin()
    assert.equal(count(), after)
    clock.advance(minute + 1)
    assert.ok((await issuer.findEndSession('http://127.0.0.1/'))?.href.startsWith(`${hostile.url}/end?`))
    assert.equal(count(), after)
  })

  test('a hostile issuer holds at most 32 who wait for it', async (t) => {
    const { hostile, finish } = await start(t)
    const held: ServerResponse[] = []
    hostile.answers['/token'] = (response) => void held.push(response)
    const waiting = Array.from({ length: 32 }, () => finish().catch(() => undefined))
    await until(() => held.length === 32, 'all of them wait')
    await assert.rejects(finish(), failsAs('unreachable'))
    for (const response of held) response.destroy()
    await Promise.all(waiting)
    delete hostile.answers['/token']
    assert.equal((await finish())['sub'], 'ada')
  })
})
