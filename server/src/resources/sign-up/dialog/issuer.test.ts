import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { textOf } from '../../../../test/harness/dialog.ts'
import { issuerClient, TestBrowser, TestIssuer, type Visited } from '../../../../test/harness/issuer.ts'
import { startSecondProcess } from '../../../../test/harness/second-process.ts'
import { startTestServer, type TestServer } from '../../../../test/harness/server.ts'
import { accounts, ids, partnerIds, strangerIds, testWorld, tokens } from '../../../../test/harness/world.ts'
import { minute } from '../../../base/time/duration.ts'
import {
  dialogForged,
  dialogOver,
  emailNotVerified,
  emailOfNobody,
  issuerDeclined,
  issuerRefused,
  signInOver,
} from './errors.ts'

const redirect = 'https://suite.example/connected'
/** As long as an address and a state may be. */
const longRedirect = 'https://suite.example/'.padEnd(2000, 'x')
const longState = 's'.repeat(4096)

function signInWorld() {
  const world = testWorld()
  const cleo = { name: 'Cleo Both', email: 'cleo@both.example' }
  const more: Record<string, object> = {
    [ids.business]: { ...cleo, id: '2300000000000901' },
    [strangerIds.business]: { ...cleo, id: '2300000000000902' },
  }
  return {
    ...world,
    businesses: world.businesses.map((business) => {
      const user = more[business.id]
      return user ? { ...business, users: [...('users' in business ? (business.users ?? []) : []), user] } : business
    }),
    apps: world.apps.map((app) =>
      app.id === partnerIds.application ? { ...app, redirect_uris: [redirect, longRedirect] } : app,
    ),
  }
}

onOneDatabase('signing in to the dialog of the sign-up at the issuer', 'sqlite', (engine) => {
  let issuer: TestIssuer
  let server: TestServer
  const lines: string[] = []
  const settings = (more: Record<string, string> = {}) => ({
    SANDBOX: 'off',
    OIDC_ISSUER: issuer.url,
    OIDC_CLIENT_ID: issuerClient.id,
    OIDC_CLIENT_SECRET: issuerClient.secret,
    OIDC_ALLOW: 'ada@lucky-shrub.example',
    OIDC_PEOPLE: 'on',
    ...more,
  })
  before(async () => {
    issuer = await TestIssuer.listen()
    const written = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
    const log = Object.assign(written, { line: (members: string) => void lines.push(members) })
    server = await startTestServer({ engine, env: settings(), world: signInWorld(), log })
    const person = (email: string, more: object = {}) => ({ email, email_verified: true, ...more })
    issuer.people.set('ada', person('Ada@Lucky-Shrub.EXAMPLE'))
    issuer.people.set('cleo', person('cleo@both.example'))
    issuer.people.set('eve', person('eve@elsewhere.example'))
    issuer.people.set('mallory', person('ada@lucky-shrub.example', { email_verified: false }))
    issuer.people.set('nul', person('ada@lucky-shrub.example\u0000'))
    issuer.people.set('nobody', {})
  })
  after(async () => {
    await issuer.close()
    await server.stop()
  })

  const callback = () => `${server.url}/console/sign-in/callback`
  const host = () => new URL(issuer.url).host
  const ticketOf = ({ body }: Visited) => /name="ticket" value="([^"]+)"/.exec(body)?.[1] ?? ''
  const findLink = ({ body }: Visited) => {
    const [, path] = /href="(\/dialog\/issuer\?[^"]+)"/.exec(body) ?? []
    return path === undefined ? undefined : server.url + path.replaceAll('&amp;', '&')
  }
  const linkOf = (page: Visited): string => {
    const link = findLink(page)
    assert.ok(link, page.body)
    return link
  }
  const asked = (more: object = {}) =>
    new URLSearchParams({
      client_id: partnerIds.application,
      redirect_uri: redirect,
      state: 's',
      response_type: 'code',
      ...more,
    })
  const open = (browser: TestBrowser, more: object = {}) => browser.visit(`${server.url}/dialog/oauth?${asked(more)}`)

  /** Presses the link of a page and signs in at the issuer; the address that leads back, unvisited. */
  function comeBack(browser: TestBrowser, who: string | undefined, page: Visited): Promise<string> {
    issuer.who = who
    return browser.followTo(callback(), linkOf(page))
  }

  async function signIn(browser: TestBrowser, who: string | undefined, more: object = {}): Promise<Visited> {
    return browser.visit(await comeBack(browser, who, await open(browser, more)))
  }

  /** The page that a redirect of the dialog leads to. */
  async function follow(browser: TestBrowser, { status, location, body }: Visited, step: string): Promise<Visited> {
    assert.equal(status, 303, body.slice(body.indexOf('<main>')))
    assert.equal(new URL(location).pathname, `/dialog/${step}`)
    return browser.visit(location)
  }

  async function send(browser: TestBrowser, page: Visited, step: string, fields: Record<string, string>) {
    return browser.visit(`${server.url}/dialog/${step}`, { form: { ticket: ticketOf(page), ...fields } })
  }

  const session = async (browser: TestBrowser) =>
    JSON.parse((await browser.visit(`${server.url}/console/session`, { method: 'POST' })).body).signed_in

  /** A page to sign in at again, which says what went wrong, and leads nowhere by itself. */
  function assertSaid(page: Visited, status: number, sentence: string): void {
    assert.deepEqual([page.status, page.location], [status, ''], page.body)
    assert.ok(textOf(page.body).includes(sentence), textOf(page.body))
    assert.match(findLink(page) ?? '', /&again=1$/, 'it can be tried again, as somebody else')
    assert.match(page.body, /<details open><summary>Sign in with a code/)
    assert.doesNotMatch(page.body, new RegExp(ids.business))
  }

  /** A page without a dialog: it is not known whose it was. */
  function assertOver(page: Visited, sentence = signInOver().message): void {
    assert.deepEqual([page.status, page.location], [400, ''])
    assert.ok(textOf(page.body).includes(sentence), textOf(page.body))
    assert.doesNotMatch(page.setCookie.join(), /sb_/)
  }

  test('an issuer that is down stops no dialog: the page says so, and leads on', async () => {
    const browser = new TestBrowser()
    const page = await browser.visit(linkOf(await open(browser)))
    assertSaid(page, 503, `The sign-in at ${host()} cannot be reached now`)
    await issuer.open(server.url)
    assert.equal((await browser.visit(linkOf(page))).status, 303)
  })

  test('a person is known by the verified address, and connects an account of their business', async () => {
    const browser = new TestBrowser()
    const page = await open(browser)
    assert.match(textOf(page.body), new RegExp(`Sign in with ${host()} .* Code from whoever runs this service`))
    const begun = await browser.visit(linkOf(page))
    const { searchParams } = new URL(begun.location)
    assert.equal(searchParams.get('prompt'), null)
    assert.equal(searchParams.get('redirect_uri'), callback())
    assert.match(searchParams.get('state') ?? '', /^sign-up\.[\w-]{43}$/)
    assert.equal(searchParams.get('code_challenge_method'), 'S256')
    const [cookie, ...rest] = begun.setCookie
    const form =
      /^switchboard-sign-up-issuer-0_\d+=[\w.:-]+; Path=\/console\/sign-in\/callback; Max-Age=600; HttpOnly; /
    assert.match(cookie ?? '', form)
    assert.match(cookie ?? '', / SameSite=Lax$/)
    for (const other of rest) assert.match(other, /-[123]_\d+=; .*Max-Age=0/)
    const answer = await comeBack(browser, 'ada', page)
    const done = await browser.visit(answer)
    assert.equal(done.setCookie.length, 4)
    for (const other of done.setCookie) assert.match(other, /^switchboard-sign-up-issuer-\d_\d+=; .*Max-Age=0/)
    const business = await follow(browser, done, 'business')
    assert.match(textOf(business.body), /You are Ada Shrub , ada@lucky-shrub.example/)
    assert.ok(!business.body.includes(strangerIds.business))
    assert.equal(await session(browser), false, 'a person is no operator, although this one may be one too')
    const account = await follow(
      browser,
      await send(browser, business, 'business', { business_id: ids.business }),
      'account',
    )
    const number = await follow(
      browser,
      await send(browser, account, 'account', { account_id: accounts.private }),
      'number',
    )
    const consent = await follow(browser, await send(browser, number, 'number', { none: '1' }), 'consent')
    const { location } = await send(browser, consent, 'consent', {})
    assert.ok(location.startsWith(redirect))
    assert.match(new URL(location).searchParams.get('code') ?? '', /^[\w-]{43}$/)
    const { body } = await server.client.get('/operator/audit', {
      token: tokens.operator,
      query: { operation: 'sign_up.sign_in_at_issuer', limit: '1' },
    })
    const [{ node_id, actor_name, trace }] = body.data
    assert.deepEqual([node_id, actor_name], [ids.business_user, 'Ada Shrub'])
    const steps = (await server.client.get(`/operator/traces/${trace}`, { token: tokens.operator })).body.data
    assert.ok(JSON.stringify(steps).includes('sign_up.agree'), 'all of it is under the trace of the dialog')
  })

  test('a person of several businesses chooses among them, and among no others', async () => {
    const browser = new TestBrowser()
    const page = await follow(browser, await signIn(browser, 'cleo'), 'business')
    for (const id of [ids.business, strangerIds.business]) assert.ok(page.body.includes(`value="${id}"`), id)
    assert.equal((await send(browser, page, 'business', { business_id: partnerIds.business })).status, 422)
    const account = await send(browser, page, 'business', { business_id: strangerIds.business })
    await follow(browser, account, 'account')
    const again = await browser.visit(`${server.url}/dialog/person?${new URL(account.location).searchParams}`)
    assert.match(textOf(again.body), /You signed in as Cleo Both/)
  })

  test('whoever is nobody here, or not known to be who they say, reads what to do, and goes to the app by declining', async () => {
    const unverified = emailNotVerified({ host: host() }).message
    for (const [who, status, sentence] of [
      ['eve', 403, emailOfNobody({ email: 'eve@elsewhere.example' }).message],
      ['mallory', 403, unverified],
      ['nul', 403, unverified],
      ['nobody', 403, unverified],
      [undefined, 403, issuerDeclined({ host: host() }).message],
    ] as const) {
      const browser = new TestBrowser()
      const page = await signIn(browser, who)
      assertSaid(page, status, sentence)
      const ticket = ticketOf(page)
      const next = await browser.visit(`${server.url}/dialog/business?${new URLSearchParams({ ticket })}`)
      assert.equal(new URL(next.location).pathname, '/dialog/person')
      const { location } = await send(browser, page, 'decline', {})
      assert.equal(location, `${redirect}?error=access_denied&error_reason=user_denied&state=s`)
    }
    for (const secret of ['eve@', 'ada@', 'code=', 'sign-up.']) assert.ok(!lines.join('\n').includes(secret), secret)
    assert.ok(lines.join('\n').includes('email_of_nobody'))
  })

  test('from such a page a person signs in another way: with another account, or with a code', async () => {
    const browser = new TestBrowser()
    const page = await signIn(browser, 'eve')
    // Otherwise the issuer, where Eve is signed in, would send her back at once.
    assert.equal(new URL((await browser.visit(linkOf(page))).location).searchParams.get('prompt'), 'login')
    browser.forget(issuer.url)
    await follow(browser, await browser.visit(await comeBack(browser, 'cleo', page)), 'business')
    const path = `/operator/businesses/${ids.business}/users/${ids.business_user}/link`
    const { body } = await server.client.post(path, { token: tokens.operator, json: {} })
    const business = await follow(browser, await send(browser, page, 'sign-in', { code: body.code }), 'business')
    assert.match(textOf(business.body), /You are Ada Shrub/)
  })

  test('the longest dialog comes back whole, by cookies that a browser keeps', async () => {
    const browser = new TestBrowser()
    const more = { state: longState, redirect_uri: longRedirect, code_challenge: 'c'.repeat(43) }
    const page = await open(browser, more)
    const { setCookie } = await browser.visit(linkOf(page))
    for (const cookie of setCookie) assert.ok((cookie.split(';', 1)[0] ?? '').length <= 4096)
    const business = await follow(browser, await browser.visit(await comeBack(browser, 'ada', page)), 'business')
    const { location } = await send(browser, business, 'decline', {})
    assert.equal(location, `${longRedirect}?error=access_denied&error_reason=user_denied&state=${longState}`)
    // A shorter one leaves nothing of the longer one behind it.
    await comeBack(browser, 'ada', page)
    await follow(browser, await signIn(browser, 'ada'), 'business')
  })

  test("an operator's sign-in makes nobody a person, and a person's no operator", async () => {
    const browser = new TestBrowser()
    const page = await open(browser)
    const ofPerson = new URL(await comeBack(browser, 'ada', page))
    issuer.who = 'ada'
    const ofOperator = new URL(await browser.followTo(callback(), `${server.url}/console/sign-in`))
    const [person, operator] = [ofPerson, ofOperator].map((url) => url.searchParams.get('state') ?? '')
    ofPerson.searchParams.set('state', operator ?? '')
    ofOperator.searchParams.set('state', person ?? '')
    assertSaid(await browser.visit(ofOperator.href), 400, issuerRefused({ host: host() }).message)
    const refused = await browser.visit(ofPerson.href)
    assert.equal(refused.location, `${server.url}/sign-in?problem=refused`)
    assert.equal(await session(browser), false)

    const signedIn = await browser.visit(await browser.followTo(callback(), `${server.url}/console/sign-in`))
    assert.equal(signedIn.location, `${server.url}/`)
    assert.equal(await session(browser), true)
    const ticket = ticketOf(await open(browser))
    const next = await browser.visit(`${server.url}/dialog/business?${new URLSearchParams({ ticket })}`)
    assert.equal(
      new URL(next.location).pathname,
      '/dialog/person',
      'a session of the console says nothing in the dialog',
    )
    await follow(browser, await signIn(browser, 'cleo'), 'business')
    assert.equal(await session(browser), true, 'and a person who signs in ends none')
  })

  test('both sign-ins go on beside each other in one browser', async () => {
    const browser = new TestBrowser()
    const { location } = await browser.visit(`${server.url}/console/sign-in`)
    await follow(browser, await signIn(browser, 'ada'), 'business')
    const ofOperator = await browser.followTo(callback(), location)
    assert.equal((await browser.visit(ofOperator)).location, `${server.url}/`)
  })

  test('what comes back made up, altered, too late, twice or in another browser gets a page', async () => {
    const browser = new TestBrowser()
    const page = await open(browser)
    const alter = async (state: string | undefined) => {
      const answer = new URL(await comeBack(browser, 'ada', page))
      if (state !== undefined) answer.searchParams.set('state', state)
      return answer.href
    }
    assertOver(await browser.visit(await alter(`sign-up.${'a'.repeat(43)}`)))
    assertOver(await browser.visit(await alter('sign-up.')))
    assertOver(await browser.visit(await alter(`sign-up.${'a'.repeat(600)}`)), 'state: it must')
    assertOver(await new TestBrowser().visit(await alter(undefined)))
    const answer = await alter(undefined)
    const stolen = browser.cookie(answer).split('; ')
    // The cookies of the sign-in without that of the browser, as another host of the domain could set them.
    const cookie = stolen.filter((one) => one.includes('issuer')).join('; ')
    const victim = new TestBrowser()
    await open(victim)
    const headers = { cookie: `${victim.cookie(server.url)}; ${cookie}` }
    assertOver(await victim.visit(answer, { headers }), dialogOver().message)
    await follow(browser, await browser.visit(answer), 'business')
    assertOver(await browser.visit(answer))
    const kept = await browser.visit(answer, { headers: { cookie: stolen.join('; ') } })
    assertSaid(kept, 400, issuerRefused({ host: host() }).message)
    const late = await alter(undefined)
    server.clock.advance(10 * minute)
    assertOver(await browser.visit(late))
  })

  test('no other website sends a browser to the issuer, and no ticket of another browser', async () => {
    const browser = new TestBrowser()
    const link = linkOf(await open(browser))
    const foreign = await browser.visit(link, { headers: { 'sec-fetch-site': 'cross-site' } })
    assert.deepEqual([foreign.status, foreign.location], [403, ''])
    assert.ok(textOf(foreign.body).includes(dialogForged().message))
    assertOver(await new TestBrowser().visit(link), dialogOver().message)
    assertOver(await browser.visit(`${server.url}/dialog/issuer`), dialogOver().message)
  })

  test('it may begin at one process and end at another; where it is off it is not there, and proves nothing', async () => {
    const [on, off] = [
      await startSecondProcess(server, settings({ PUBLIC_URL: server.url, VOCABULARY: 'whatsapp', SANDBOX: 'on' })),
      await startSecondProcess(server, settings({ PUBLIC_URL: server.url, OIDC_PEOPLE: 'off' })),
    ]
    try {
      const browser = new TestBrowser()
      const page = await open(browser)
      const answer = await comeBack(browser, 'ada', page)
      assertOver(await browser.visit(answer, { through: off.client.url }))
      const done = await browser.visit(answer, { through: on.client.url })
      assert.equal(new URL(done.location).pathname, '/dialog/business')
      assert.equal((await browser.visit(done.location)).status, 200)
      const without = await browser.visit(done.location, { through: off.client.url })
      assert.equal(new URL(without.location).pathname, '/dialog/person')
      const shown = await browser.visit(without.location, { through: off.client.url })
      assert.equal(findLink(shown), undefined)
      const back = await browser.visit(linkOf(page), { through: off.client.url })
      assert.equal(new URL(back.location).pathname, '/dialog/person')
      const sandbox = await browser.visit(`${server.url}/dialog/oauth?${asked()}`, { through: on.client.url })
      assert.match(textOf(sandbox.body), new RegExp(`be anybody.*Sign in with ${host()}.*Ada Shrub`))
    } finally {
      await on.app.close(100)
      await off.app.close(100)
    }
  })

  test('behind https the cookies are for https and for the callback alone', async () => {
    const url = 'https://switchboard.example/of-us'
    const second = await startSecondProcess(server, settings({ PUBLIC_URL: url }))
    try {
      const browser = new TestBrowser()
      const page = await browser.visit(`${second.client.url}/dialog/oauth?${asked()}`)
      assert.match(page.setCookie.join(), /^__Host-switchboard-sign-up=/)
      const query = new URLSearchParams({ ticket: ticketOf(page) })
      const begun = await browser.visit(`${second.client.url}/dialog/issuer?${query}`)
      assert.equal(new URL(begun.location).searchParams.get('redirect_uri'), `${url}/console/sign-in/callback`)
      const form =
        /^__Secure-switchboard-sign-up-issuer-0=[\w.:-]+; Path=\/of-us\/console\/sign-in\/callback; .*; SameSite=Lax; Secure$/
      assert.match(begun.setCookie[0] ?? '', form)
    } finally {
      await second.app.close(100)
    }
  })

  test('an issuer that goes away while somebody is there is said on the page', async () => {
    const browser = new TestBrowser()
    const answer = await comeBack(browser, 'ada', await open(browser))
    await issuer.close()
    assertSaid(await browser.visit(answer), 503, `The sign-in at ${host()} cannot be reached now`)
  })
})
