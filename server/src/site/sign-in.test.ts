import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { onOneDatabase } from '../../test/harness/databases.ts'
import { issuerClient, TestBrowser, TestIssuer } from '../../test/harness/issuer.ts'
import { startSecondProcess } from '../../test/harness/second-process.ts'
import { startTestServer, type TestServer } from '../../test/harness/server.ts'
import { strangerIds, tokens } from '../../test/harness/world.ts'
import { minute } from '../base/time/duration.ts'

const allow = `ada@example.com,group:operators,group:strangers=${strangerIds.business}`

onOneDatabase('signing in by OpenID Connect', 'sqlite', (engine) => {
  let issuer: TestIssuer
  let server: TestServer
  const settings = (more: Record<string, string> = {}) => ({
    OIDC_ISSUER: issuer.url,
    OIDC_CLIENT_ID: issuerClient.id,
    OIDC_CLIENT_SECRET: issuerClient.secret,
    OIDC_ALLOW: allow,
    OIDC_SCOPES: 'openid email profile groups',
    ...more,
  })
  before(async () => {
    issuer = await TestIssuer.listen()
    server = await startTestServer({ engine, env: settings() })
    const person = (email: string, more: object = {}) => ({ email, email_verified: true, ...more })
    issuer.people.set('ada', person('Ada@example.com'))
    issuer.people.set('eve', person('eve@example.com'))
    issuer.people.set('mallory', person('ada@example.com', { email_verified: false }))
    issuer.people.set('grace', { preferred_username: 'gra\u0000ce', groups: ['staff', 'operators'] })
    issuer.people.set('joan', person('joan@example.com', { groups: ['strangers'] }))
  })
  after(async () => {
    await server.stop()
    await issuer.close()
  })

  const callback = () => `${server.url}/console/sign-in/callback`
  /** Where the issuer sends the browser back to, for somebody who signs in there. */
  async function comeBack(browser: TestBrowser, who: string | undefined, path = '/console/sign-in') {
    issuer.who = who
    return browser.followTo(callback(), server.url + path)
  }
  async function signIn(who: string, path?: string) {
    const browser = new TestBrowser()
    const answer = await comeBack(browser, who, path)
    return { browser, answer, done: await browser.visit(answer) }
  }
  const session = async (browser: TestBrowser) =>
    JSON.parse((await browser.visit(`${server.url}/console/session`, { method: 'POST' })).body)
  const problemOf = (location: string) => new URL(location).searchParams.get('problem')

  test('an issuer that is down stops nothing: the page says so, and the next try finds it', async () => {
    const browser = new TestBrowser()
    const { status, location } = await browser.visit(`${server.url}/console/sign-in`)
    assert.deepEqual([status, location], [303, `${server.url}/sign-in?problem=unreachable`])
    assert.deepEqual(await session(browser), {
      signed_in: false,
      reason: 'sign_in',
      sign_in_with: new URL(issuer.url).host,
    })
    await issuer.open(server.url)
  })

  test('a person of the list signs in: a session like any other, in the name of the verified address', async () => {
    const { browser, done } = await signIn('ada', '/console/sign-in?return_to=/live?text=a')
    assert.deepEqual([done.status, done.location], [303, `${server.url}/live?text=a`])
    assert.match(
      done.setCookie[0] ?? '',
      /^switchboard_\d+=sb_[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    )
    const { name, signed_in, by_issuer, limited, token_id } = await session(browser)
    assert.deepEqual([name, signed_in, by_issuer, limited], ['Ada@example.com', true, true, false])
    const cookie = browser.cookie(server.url)
    assert.equal((await server.client.get('/operator/state', { headers: { cookie } })).status, 200)
    const { body } = await server.client.get('/operator/audit?limit=1', { token: tokens.operator })
    const [{ operation, actor_token_id, actor_name }] = body.data
    assert.deepEqual([operation, actor_token_id, actor_name], ['public.finish_sign_in', token_id, 'Ada@example.com'])
    const listed = (await server.client.get('/operator/tokens?limit=100', { headers: { cookie } })).body.data
    assert.equal(listed.find(({ id }: { id: string }) => id === token_id).session_name, 'Ada@example.com')
  })

  test('a sign-in begins with a cookie that comes back from the issuer, and with a proof that only this server has', async () => {
    const begun = await new TestBrowser().visit(`${server.url}/console/sign-in`)
    assert.match(begun.setCookie[0] ?? '', /^switchboard-sign-in_\d+=.*; Max-Age=600; HttpOnly; SameSite=Lax$/)
    const { searchParams } = new URL(begun.location)
    assert.equal(searchParams.get('code_challenge_method'), 'S256')
    assert.equal(searchParams.get('redirect_uri'), callback())
    const again = new URL((await new TestBrowser().visit(`${server.url}/console/sign-in`)).location).searchParams
    for (const name of ['state', 'nonce', 'code_challenge']) assert.notEqual(searchParams.get(name), again.get(name))
    const foreign = { 'sec-fetch-site': 'cross-site' }
    const { location } = await new TestBrowser().visit(`${server.url}/console/sign-in`, { headers: foreign })
    assert.equal(location, `${server.url}/sign-in`, 'no other website begins a sign-in')
  })

  test('behind https the cookies of a sign-in are for https alone', async () => {
    const second = await startSecondProcess(
      server,
      settings({ PUBLIC_URL: 'https://switchboard.example/console-of-us' }),
    )
    try {
      const { location, setCookie } = await new TestBrowser().visit(`${second.client.url}/console/sign-in`)
      const { searchParams } = new URL(location)
      const back = 'https://switchboard.example/console-of-us/console/sign-in/callback'
      assert.equal(searchParams.get('redirect_uri'), back)
      assert.match(setCookie.join(), /^__Host-switchboard-sign-in=[^;]+; Path=\/; .*; SameSite=Lax; Secure$/)
    } finally {
      await second.app.close(100)
    }
  })

  test('the way back leads to paths of this service alone', async () => {
    for (const path of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      'live',
      '/a\r\nSet-Cookie:x',
      '/a b',
    ]) {
      const { done } = await signIn('ada', `/console/sign-in?return_to=${encodeURIComponent(path)}`)
      assert.equal(done.location, `${server.url}/`, path)
    }
  })

  test('nobody else signs in, and the page does not say who could', async () => {
    for (const who of ['eve', 'mallory']) {
      const { browser, done } = await signIn(who)
      assert.equal(done.location, `${server.url}/sign-in?problem=not_allowed`, who)
      assert.equal((await session(browser)).signed_in, false)
    }
    const browser = new TestBrowser()
    const { location } = await browser.visit(await comeBack(browser, undefined))
    assert.equal(problemOf(location), 'declined')
  })

  test('a group signs in by its claim, until somebody is taken out of it', async () => {
    const { browser, done } = await signIn('grace')
    assert.equal(done.location, `${server.url}/`)
    assert.equal((await session(browser)).name, 'grace (grace)')
    issuer.people.set('grace', { preferred_username: 'grace', groups: ['staff'] })
    assert.equal(problemOf((await signIn('grace')).done.location), 'not_allowed')
  })

  test('an entry with a business sees that alone', async () => {
    const { browser } = await signIn('joan')
    assert.equal((await session(browser)).limited, true)
    const headers = { cookie: browser.cookie(server.url) }
    const { body } = await server.client.get('/operator/nodes?kind=account', { headers })
    assert.deepEqual(
      body.data.map(({ id }: { id: string }) => id),
      [strangerIds.account],
    )
    const wide = await server.client.get(`/gateway/users/1/messages?phone_number_id=4000000000000001`, { headers })
    assert.equal(wide.status, 404)
  })

  describe('what comes back is refused', () => {
    const cases: Record<string, (answer: URL, browser: TestBrowser) => void> = {
      'with another state': (answer) => answer.searchParams.set('state', 'a'.repeat(43)),
      'without a state': (answer) => answer.searchParams.delete('state'),
      'when the sign-in took too long': () => server.clock.advance(10 * minute),
    }
    for (const [name, alter] of Object.entries(cases)) {
      test(name, async () => {
        const browser = new TestBrowser()
        const answer = new URL(await comeBack(browser, 'ada'))
        alter(answer, browser)
        const { location, setCookie } = await browser.visit(answer.href)
        assert.equal(problemOf(location), 'stale')
        assert.doesNotMatch(setCookie.join(), /sb_/)
      })
    }

    test('a sign-in that is under way in another window goes on when what comes back is refused', async () => {
      const browser = new TestBrowser()
      const answer = await comeBack(browser, 'ada')
      assert.equal(problemOf((await browser.visit(`${callback()}?code=a&state=b`)).location), 'stale')
      assert.equal(problemOf((await browser.visit(answer)).location), null)
    })

    test('a sign-in that comes back in another browser is refused: a stranger cannot sign anybody in as somebody else', async () => {
      const answer = await comeBack(new TestBrowser(), 'ada')
      const other = new TestBrowser()
      assert.equal(problemOf((await other.visit(answer)).location), 'stale')
      await comeBack(other, 'ada')
      assert.equal(problemOf((await other.visit(answer)).location), 'stale')
    })

    test('a sign-in that comes back from another issuer, with another code, or without what the issuer must say is refused', async () => {
      for (const [name, value] of [
        ['iss', 'https://evil.example'],
        ['iss', undefined],
        ['code', 'made-up'],
        ['code', undefined],
      ] as const) {
        const browser = new TestBrowser()
        const answer = new URL(await comeBack(browser, 'ada'))
        if (value === undefined) answer.searchParams.delete(name)
        else answer.searchParams.set(name, value)
        assert.equal(problemOf((await browser.visit(answer.href)).location), 'refused', `${name} ${value}`)
      }
    })

    test('a sign-in that comes back with another nonce or another verifier than it was begun with is refused', async () => {
      for (const name of ['nonce', 'code_challenge']) {
        const browser = new TestBrowser()
        const begun = new URL((await browser.visit(`${server.url}/console/sign-in`)).location)
        begun.searchParams.set(name, 'b'.repeat(43))
        issuer.who = 'ada'
        const { location } = await browser.visit(await browser.followTo(callback(), begun.href))
        assert.equal(problemOf(location), 'refused', name)
      }
    })

    test('a sign-in that comes back a second time is refused', async () => {
      const browser = new TestBrowser()
      const answer = await comeBack(browser, 'ada')
      const cookie = browser.cookie(server.url)
      assert.equal(problemOf((await browser.visit(answer)).location), null)
      assert.equal(problemOf((await browser.visit(answer)).location), 'stale', 'the browser has forgotten it')
      const kept = await new TestBrowser().visit(answer, { headers: { cookie } })
      assert.equal(problemOf(kept.location), 'refused')
    })
  })

  test('a sign-in may begin at one process and end at another', async () => {
    const second = await startSecondProcess(server, settings({ PUBLIC_URL: server.url, VOCABULARY: 'whatsapp' }))
    try {
      const browser = new TestBrowser()
      const answer = await comeBack(browser, 'ada')
      const done = await browser.visit(answer, { through: second.client.url })
      assert.equal(done.location, `${server.url}/`)
      assert.equal((await session(browser)).name, 'Ada@example.com')
    } finally {
      await second.app.close(100)
    }
  })

  test('signing out ends the session here, and leads to where it ends at the issuer', async () => {
    const { browser } = await signIn('ada')
    const { token_id, proof } = await session(browser)
    const headers = { cookie: browser.cookie(server.url), 'x-console-proof': proof }
    assert.equal((await server.client.delete(`/operator/tokens/${token_id}`, { headers })).status, 200)
    assert.equal((await session(browser)).signed_in, false)
    const { location, setCookie } = await browser.visit(`${server.url}/console/sign-out`)
    assert.ok(location.startsWith(`${issuer.url}/session/end?`), location)
    assert.equal(new URL(location).searchParams.get('post_logout_redirect_uri'), `${server.url}/sign-in`)
    assert.match(setCookie.join(), /^switchboard_\d+=; .*Max-Age=0/)
    assert.equal((await browser.visit(location)).status, 200)
  })

  test('whoever is taken out of OIDC_ALLOW is signed out by the next start; the others stay', async () => {
    issuer.people.set('grace', { preferred_username: 'grace', groups: ['operators'] })
    const [ada, grace] = [await signIn('ada'), await signIn('grace')]
    const second = await startSecondProcess(server, settings({ OIDC_ALLOW: 'group:operators' }))
    await second.app.close(100)
    assert.equal((await session(ada.browser)).signed_in, false)
    assert.equal((await session(grace.browser)).signed_in, true)
    const third = await startSecondProcess(server)
    await third.app.close(100)
    assert.equal((await session(grace.browser)).signed_in, false)
  })
})
