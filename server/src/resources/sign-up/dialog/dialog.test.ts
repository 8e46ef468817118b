import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { request } from 'undici'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { DialogBrowser, type Fields, type Shown, textOf } from '../../../../test/harness/dialog.ts'
import { type TestServer, useTestServer } from '../../../../test/harness/server.ts'
import { accounts, ids, numbers, partnerIds, strangerIds, testWorld, tokens } from '../../../../test/harness/world.ts'
import type { Log } from '../../../base/log/log.ts'
import type { GraphError } from '../../../graph/graph-error.ts'
import { tooManyWrongCodes } from '../../phone-numbers/errors.ts'
import {
  accountNotOfBusiness,
  autoFoundNothing,
  autoNumberUnknown,
  autoOnlyInSandbox,
  businessNotOfPerson,
  dialogAppUnknown,
  dialogForged,
  dialogOver,
  dialogWithdrawn,
  disconnectedSince,
  numberNotOfAccount,
  redirectNotListed,
  stateTooLong,
} from './errors.ts'
import { dialogLifetime } from './ticket.ts'

const redirect = 'https://suite.example/connected?from=switchboard'
const hostile = `<img src=x onerror=alert(1)>"'&`
const hostileApp = '3000000000000005'
const manyPeople = 14

function dialogWorld() {
  const world = testWorld()
  const uris = [redirect, 'http://127.0.0.1:9/connected']
  const many = Array.from({ length: manyPeople }, (_, index) => ({
    id: `23000000000001${String(index).padStart(2, '0')}`,
    name: `Crowd ${String(index).padStart(2, '0')}`,
    email: `crowd${index}@stranger.example`,
  }))
  return {
    ...world,
    businesses: world.businesses.map((business) =>
      business.id === strangerIds.business
        ? { ...business, users: [...('users' in business ? (business.users ?? []) : []), ...many] }
        : business,
    ),
    apps: [
      ...world.apps.map((app) => (app.id === partnerIds.application ? { ...app, redirect_uris: uris } : app)),
      { id: hostileApp, business_id: partnerIds.business, name: hostile, secret: 'hostile', redirect_uris: uris },
    ],
  }
}

const asked = { client_id: partnerIds.application, redirect_uri: redirect, state: 'a&b=c #1', response_type: 'code' }

/** A page of an error shows its sentence, and sends nobody anywhere. */
function assertRefused(shown: Shown, error: GraphError): void {
  assert.equal(shown.left, undefined)
  assert.equal(shown.headers.get('location'), null)
  assert.ok(textOf(shown.html).includes(error.message), textOf(shown.html))
  assert.equal(shown.status, error.status)
}

/** What the page at the end of a pop-up posts to the one that opened it. */
function messageIn({ html }: Shown): unknown {
  const [, text = ''] = /data-message="([^"]*)"/.exec(html) ?? []
  return JSON.parse(text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'))
}

/** What a browser adds to a form of another website. */
const foreignHeaders: readonly Fields[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
]

interface Activity {
  readonly operation: string
  readonly actor_token_id: string
  readonly node_kind: string
}

onOneDatabase('the dialog of the sign-up', 'sqlite', (engine) => {
  const lines: string[] = []
  const log = Object.assign(pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }), {
    line: (members: string) => void lines.push(members),
  }) as Log
  const server = useTestServer({ engine, env: { SANDBOX: 'on', RATE_LIMITS: 'on' }, world: dialogWorld(), log })

  async function count(
    table: 'businesses' | 'accounts' | 'phone_numbers' | 'connections' | 'business_users' | 'sign_up_codes',
  ) {
    const { rows } = await server.database.read.query
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow()
    return Number(rows)
  }

  async function countAll() {
    const tables = ['businesses', 'accounts', 'phone_numbers', 'connections', 'business_users'] as const
    const counted: Record<string, number> = {}
    for (const table of tables) counted[table] = await count(table)
    return counted
  }

  /** The newest code that a phone got. */
  async function readCode(to: string): Promise<string> {
    const { body } = await server.client.get('/gateway/outbox', { token: tokens.gateway, query: { to } })
    return body.data[0].code
  }

  async function listTrace(trace: string): Promise<Activity[]> {
    const { body } = await server.client.get(`/operator/traces/${trace}`, { token: tokens.operator })
    const found = body.data as { type: string; data: Activity }[]
    return found.filter(({ type }) => type === 'audit').map(({ data }) => data)
  }

  async function openAs(name: string, more: Fields = {}): Promise<DialogBrowser> {
    const browser = new DialogBrowser(server)
    await browser.open({ ...asked, ...more })
    const { ticket } = browser
    await browser.go(`/dialog/person?${new URLSearchParams({ ticket, search: name })}`)
    await browser.send('person', pick(browser.page, 'user_id', name))
    return browser
  }

  /** The choice of a page with this name, as the form would send it. */
  function pick({ html }: Shown, field: string, name: string): Fields & Record<typeof field, string> {
    const buttons = [...html.matchAll(/<button name="(\w+)" value="(\d+)">(.*?)<\/button>/gs)]
    const found = buttons.find(([, own, , text]) => own === field && textOf(`<body>${text}`).includes(name))
    assert.ok(found, `${name} is not among the choices: ${textOf(html)}`)
    return { [field]: found[2] as string }
  }

  test('leads from the person to a code, and every step is recorded under its trace', async () => {
    const browser = new DialogBrowser(server)
    const first = await browser.open(asked, '/v23.0/dialog/oauth')
    const trace = first.headers.get('x-svctrace-id') ?? ''
    assert.match(textOf(first.html), /Partner Suite of Green Partner asks to work with an account/)
    await browser.send('person', pick(browser.page, 'user_id', 'Ada Shrub'))
    assert.equal(browser.page.url, '/dialog/business')
    await browser.send('business', pick(browser.page, 'business_id', 'Lucky Shrub'))
    await browser.send('account', { account_id: accounts.private })
    const consent = await browser.send('number', { phone_number_id: numbers.main })
    assert.equal(consent.url, '/dialog/consent')
    const text = textOf(consent.html)
    for (const part of ['Partner Suite', 'Ada Shrub', 'Manage the account', 'Send and receive messages', '+1 631']) {
      assert.ok(text.includes(part), `${part}: ${text}`)
    }
    assert.ok(!text.includes('See the business'), 'a scope that was not asked for')

    const { left, status } = await browser.send('consent', {})
    assert.equal(status, 303)
    const [code = ''] = left?.searchParams.getAll('code') ?? []
    assert.match(code, /^[\w-]{43}$/)
    assert.equal(left?.searchParams.get('state'), asked.state)
    assert.ok(left?.href.startsWith(`${redirect}&code=`))
    const { body } = await server.client.post('/oauth/access_token', {
      form: { client_id: asked.client_id, client_secret: 'partner-app-secret', code, redirect_uri: redirect },
    })
    assert.equal(body.token_type, 'bearer')

    const recorded = await listTrace(trace)
    assert.deepEqual(
      recorded.map(({ operation, actor_token_id, node_kind }) => [operation, actor_token_id, node_kind]),
      [
        ['sign_up.choose_person', ids.business_user, 'business_user'],
        ['sign_up.choose_business', ids.business_user, 'business'],
        ['sign_up.choose_account', ids.business_user, 'account'],
        ['sign_up.choose_number', ids.business_user, 'phone_number'],
        ['sign_up.agree', ids.business_user, 'account'],
      ],
    )
    const all = lines.join('\n')
    assert.ok(lines.length > 5 && all.includes('sign_up.agree'), 'requests are logged')
    const { body: kept } = await server.client.get('/operator/requests', { token: tokens.operator })
    assert.ok(JSON.stringify(kept).includes('/dialog/consent'), 'requests are kept')
    for (const secret of [code, browser.cookie?.split('=')[1] ?? 'none', body.access_token]) {
      assert.ok(!all.includes(secret), 'a secret is in the log')
      assert.ok(!JSON.stringify(kept).includes(secret), 'a secret is in a kept request')
    }
  })

  test('makes a business with its person, an account and a number, and each of them once', async () => {
    const before = await countAll()
    const browser = new DialogBrowser(server)
    const { headers } = await browser.open({ ...asked, scope: 'whatsapp_business_messaging' })
    const refused = await browser.send('new-person', { name: 'נועה', email: 'noa' })
    assert.equal(refused.status, 400)
    assert.match(refused.html, /value="נועה"/)
    assert.match(textOf(refused.html), /It must be an e-mail address such as/)
    assert.match(refused.html, /name="email"[^>]*aria-invalid="true"/)
    await browser.send('new-person', { name: ' נועה ', email: 'Noa@New.example' })
    assert.match(textOf(browser.page.html), /You have no business here yet/)
    assert.deepEqual(await countAll(), before, 'somebody new is nobody yet')

    const tooLong = await browser.send('new-business', { name: 'x'.repeat(101) })
    assert.match(textOf(tooLong.html), /It must have 1 to 100 characters/)
    const atBusiness = browser.ticket
    await browser.send('new-business', { name: hostile })
    await browser.post('new-business', { ticket: atBusiness, name: hostile })
    assert.ok(!browser.page.html.includes('<img'), 'markup of a name')
    assert.ok(textOf(browser.page.html).includes(hostile))
    const atAccount = browser.ticket
    await browser.send('new-account', { name: 'First' })
    await browser.post('new-account', { ticket: atAccount, name: 'First' })
    const wrong = await browser.send('new-number', { phone_number: '12', verified_name: hostile, code_method: 'VOICE' })
    assert.match(textOf(wrong.html), /It must be a phone number that can exist/)
    assert.ok(wrong.html.includes('value="&lt;img'), 'what was typed stays')
    assert.match(wrong.html, /value="VOICE" checked/)
    const short = await browser.send('new-number', { phone_number: '+1 631 555 1077', verified_name: ' x ' })
    assert.match(textOf(short.html), /It must have 2 to 75 characters/)
    const taken = await browser.send('new-number', { phone_number: '+1 631-555-1001', verified_name: 'Taken' })
    assert.equal(taken.status, 422)
    assert.match(textOf(taken.html), /This number is on the platform already/)
    const atNumber = browser.ticket
    await browser.send('new-number', { phone_number: '+1 631 555 1077', verified_name: 'New', code_method: 'SMS' })
    assert.equal(browser.page.url, '/dialog/code')
    const after = await countAll()
    for (const table of ['businesses', 'accounts', 'phone_numbers', 'business_users']) {
      assert.equal(after[table], (before[table] ?? 0) + 1, table)
    }

    const code = await readCode('16315551077')
    const other = code === '000000' ? '000001' : '000000'
    assert.equal((await browser.send('consent', {})).url, '/dialog/code', 'a number that nobody verified')
    assert.match(textOf((await browser.send('code', { code: '12' })).html), /It must be a code of 6 digits/)
    const missed = await browser.send('code', { code: other })
    assert.equal(missed.status, 422)
    assert.match(textOf(missed.html), /The code is wrong.*4 tries are left/)
    await browser.post('new-number', { ticket: atNumber, phone_number: '16315551077', verified_name: 'New' })
    assert.equal(browser.page.url, '/dialog/code', 'the number that was added a moment ago')
    assert.equal(await readCode('16315551077'), code, 'whose code is on its way')
    server.clock.advance(1000)
    assert.equal((await browser.send('send-code', { code_method: 'VOICE' })).status, 200)
    assert.match(textOf(browser.page.html), /A new code comes by a call/)
    const soon = await browser.send('send-code', { code_method: 'SMS' })
    assert.equal(soon.status, 429)
    assert.match(textOf(soon.html), /asked for too often; try again in (1 minute|\d+ (seconds|minutes))/)
    const verified = await browser.send('code', { code: ` ${await readCode('16315551077')} ` })
    assert.equal(verified.url, '/dialog/consent')
    const { left } = await browser.send('consent', { popup: '0' })
    assert.ok(left?.searchParams.get('code'))
    const operations = (await listTrace(headers.get('x-svctrace-id') ?? '')).map(({ operation }) => operation)
    assert.deepEqual(operations, [
      'sign_up.add_business',
      'sign_up.add_account',
      'sign_up.add_number',
      'sign_up.choose_number',
      'sign_up.send_code',
      'sign_up.verify_number',
      'sign_up.agree',
    ])
    const stored = await server.database.read.query
      .selectFrom('connections')
      .innerJoin('business_users', 'business_users.id', 'connections.user_id')
      .select(['connections.scopes', 'business_users.email', 'business_users.name', 'connections.phone_number_id'])
      .where('business_users.email', '=', 'noa@new.example')
      .execute()
    assert.deepEqual(
      stored.map(({ scopes, name, phone_number_id }) => [scopes, name, phone_number_id !== null]),
      [[['msgapp_business_messaging'], 'נועה', true]],
    )
  })

  test('blocks a number after many wrong codes, as the API does', async () => {
    const browser = await openAs('Ada Shrub')
    await browser.send('business', { business_id: ids.business })
    await browser.send('account', { account_id: accounts.private })
    await browser.send('new-number', { phone_number: '+1 631 555 1078', verified_name: 'Guessed' })
    const code = await readCode('16315551078')
    const wrong = code === '111111' ? '222222' : '111111'
    let shown = browser.page
    for (let tries = 0; tries < 20 && shown.status !== 429; tries++) shown = await browser.send('code', { code: wrong })
    const { message } = tooManyWrongCodes({ seconds: 1 })
    assert.ok(textOf(shown.html).includes(message.split(';')[0] ?? message))
    assert.match(textOf(shown.html), /try again in 15 minutes/)
    assert.equal((await browser.send('code', { code })).status, 429)
  })

  test('keeps what was confirmed of a dialog that is left half way, and nothing else', async () => {
    const before = await countAll()
    const left = new DialogBrowser(server)
    await left.open(asked)
    await left.send('new-person', { name: 'Half', email: 'half@way.example' })
    await left.send('new-business', { name: 'Half way' })
    const after = await countAll()
    const { businesses = 0, business_users = 0 } = before
    assert.deepEqual(after, { ...before, businesses: businesses + 1, business_users: business_users + 1 })
    const again = await openAs('Half')
    assert.ok(pick(again.page, 'business_id', 'Half way'))
  })

  test('ends without a number', async () => {
    const browser = await openAs('Ada Shrub')
    await browser.send('business', { business_id: ids.business })
    await browser.send('account', { account_id: accounts.private })
    const consent = await browser.send('number', { none: '1' })
    assert.match(textOf(consent.html), /Number None yet/)
    const end = await browser.send('consent', { popup: '1' })
    assert.equal(end.status, 200)
    assert.deepEqual(messageIn(end), {
      type: 'WA_EMBEDDED_SIGNUP',
      event: 'FINISH_ONLY_WABA',
      data: { waba_id: accounts.private, business_id: ids.business },
      version: 3,
    })
    assert.match(end.html, /data-origin="https:\/\/suite\.example"/)
    assert.match(end.html, /data-next="https:\/\/suite\.example\/connected\?from=switchboard&amp;code=/)
  })

  test('is declined at every step, and nothing is connected', async () => {
    const before = await count('connections')
    const browser = new DialogBrowser(server)
    await browser.open(asked)
    const steps: readonly [string, Fields][] = [
      ['person', { user_id: ids.business_user }],
      ['business', { business_id: ids.business }],
      ['account', { account_id: accounts.private }],
      ['number', { phone_number_id: numbers.main }],
    ]
    const decline = async () => {
      const { ticket, page } = browser
      const { left, status } = await browser.send('decline', {})
      assert.equal(status, 303)
      assert.deepEqual(
        ['error', 'error_reason', 'state', 'code'].map((name) => left?.searchParams.get(name)),
        ['access_denied', 'user_denied', asked.state, null],
      )
      browser.shown = page
      return ticket
    }
    const { ticket: atFirst } = browser
    assert.deepEqual(messageIn(await browser.post('decline', { ticket: atFirst, popup: '1' })), {
      type: 'WA_EMBEDDED_SIGNUP',
      event: 'CANCEL',
      data: {},
      version: 3,
    })
    await browser.open(asked)
    const trace = browser.page.headers.get('x-svctrace-id') ?? ''
    for (const [step, fields] of steps) {
      await decline()
      await browser.send(step, fields)
    }
    const ticket = await decline()
    assert.deepEqual(messageIn(await browser.post('decline', { ticket, popup: '1' })), {
      type: 'WA_EMBEDDED_SIGNUP',
      event: 'CANCEL',
      data: { phone_number_id: numbers.main, waba_id: accounts.private, business_id: ids.business },
      version: 3,
    })
    assert.equal(await count('connections'), before)
    const declined = (await listTrace(trace)).filter(({ operation }) => operation === 'sign_up.decline')
    // Nobody was known at the first step, and no business at the second.
    assert.deepEqual(
      declined.map(({ actor_token_id, node_kind }) => [actor_token_id, node_kind]),
      Array.from({ length: steps.length }, () => [ids.business_user, 'application']),
    )

    const unverified = await openAs('Ada Shrub')
    await unverified.send('business', { business_id: ids.business })
    await unverified.send('account', { account_id: accounts.private })
    await unverified.send('new-number', { phone_number: '+1 631 555 1079', verified_name: 'Not yet' })
    assert.equal(unverified.page.url, '/dialog/code')
    const { left } = await unverified.send('decline', {})
    assert.equal(left?.searchParams.get('error_reason'), 'user_denied')
    assert.equal(await count('connections'), before)
  })

  test('goes back to any step, and forgets what rested on the earlier choice', async () => {
    const browser = await openAs('Ada Shrub')
    await browser.send('business', { business_id: ids.business })
    const atAccount = browser.ticket
    await browser.send('account', { account_id: accounts.private })
    await browser.send('number', { phone_number_id: numbers.main })
    const { ticket } = browser
    for (const step of ['person', 'business', 'account', 'number']) {
      assert.equal((await browser.go(`/dialog/${step}?ticket=${ticket}`)).url, `/dialog/${step}`)
    }
    assert.equal((await browser.go(`/dialog/code?ticket=${ticket}`)).url, '/dialog/consent', 'nothing to verify')
    assert.equal((await browser.go(`/dialog/consent?ticket=${atAccount}`)).url, '/dialog/account', 'nothing is skipped')
    await browser.post('account', { ticket, account_id: accounts.smallBusiness })
    assert.equal(browser.page.url, '/dialog/number')
    assert.equal((await browser.go(`/dialog/nowhere?ticket=${ticket}`)).status, 404)
  })

  test('takes nothing that is not of what was chosen before', async () => {
    const browser = await openAs('Ada Shrub')
    const { ticket } = browser
    assertRefused(await browser.send('business', { business_id: strangerIds.business }), businessNotOfPerson())
    await browser.post('business', { ticket, business_id: ids.business })
    const atAccount = browser.ticket
    assertRefused(await browser.send('account', { account_id: strangerIds.account }), accountNotOfBusiness())
    await browser.post('account', { ticket: atAccount, account_id: accounts.private })
    assertRefused(await browser.send('number', { phone_number_id: numbers.shared }), numberNotOfAccount())
    assertRefused(await browser.send('number', { phone_number_id: strangerIds.phone_number }), numberNotOfAccount())
  })

  test('searches and pages long lists', async () => {
    const browser = new DialogBrowser(server)
    await browser.open(asked)
    const { ticket } = browser
    const names = new Set<string>()
    for (let pages = 0; pages < 10; pages++) {
      const { html } = browser.page
      for (const [, name = ''] of html.matchAll(/class="name"><bdi>(.*?)<\/bdi>/g)) names.add(name)
      const [, next] = /rel="next" href="([^"]+)"/.exec(html) ?? []
      if (next === undefined) break
      await browser.go(next.replaceAll('&amp;', '&'))
    }
    const all = await count('business_users')
    assert.ok(all > manyPeople)
    assert.equal(names.size, all)
    const find = (search: string) => browser.go(`/dialog/person?${new URLSearchParams({ ticket, search })}`)
    assert.equal([...(await find('CROWD 0')).html.matchAll(/class="name"/g)].length, 10)
    assert.equal([...(await find('crowd13@')).html.matchAll(/class="name"/g)].length, 1)
    assert.match(textOf((await find('%')).html), /Nothing was found/)
    assert.ok(!(await find(hostile)).html.includes('<img'))
    for (const after of ['x', '%22', Buffer.from('["\\u0000","1"]').toString('base64url')]) {
      assert.equal((await browser.go(`/dialog/person?${new URLSearchParams({ ticket, after })}`)).status, 200)
    }
  })

  test('shows a page for a request that is not right, and sends nobody anywhere', async () => {
    const browser = new DialogBrowser(server)
    const tried: readonly [Fields, GraphError][] = [
      [{ client_id: '1' }, dialogAppUnknown()],
      [{ client_id: ids.application }, redirectNotListed()],
      [{ redirect_uri: '//evil.example' }, redirectNotListed()],
      [{ redirect_uri: `${redirect}&more=1` }, redirectNotListed()],
      [{ state: 'ä'.repeat(2049) }, stateTooLong({ max: 4096 })],
    ]
    for (const [fields, error] of tried) assertRefused(await browser.open({ ...asked, ...fields }), error)
    const address = `/dialog/oauth?${new URLSearchParams(asked)}`
    for (const bad of [
      address.replace(/&state=[^&]*/, ''),
      address.replace(/state=[^&]*/, 'state='),
      address.replace(/state=[^&]*/, `state=${'s'.repeat(10_000)}`),
      address.replace('response_type=code', 'response_type=token'),
      address.replace('&response_type=code', ''),
      `${address}&redirect_uri=https://evil.example`,
      `${address}&client_id=${ids.application}`,
      `${address}&code_challenge=short`,
      `${address}&code_challenge=${'a'.repeat(43)}&code_challenge_method=plain`,
      `${address}&scope=operator`,
      `${address}&scope=${encodeURIComponent(hostile)}`,
      `${address}&state=%00`,
      `${address}&auto=maybe`,
      '/dialog/oauth',
      address.replace('/dialog', '/v1.0/dialog'),
    ]) {
      const { status, left, html, headers } = await browser.go(bad)
      assert.equal(status, 400, bad)
      assert.equal(left, undefined, bad)
      assert.match(headers.get('content-type') ?? '', /^text\/html/, bad)
      assert.ok(!html.includes('<img'), bad)
    }
  })

  test('lets no other website in', async () => {
    const browser = new DialogBrowser(server)
    const { headers } = await browser.open({ ...asked, client_id: hostileApp, state: hostile })
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /frame-ancestors 'none'/)
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /form-action 'self' https:\/\/suite\.example(;|$)/)
    assert.doesNotMatch(policy, /unsafe/)
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('referrer-policy'), 'same-origin')
    assert.equal(headers.get('cross-origin-opener-policy'), null)
    assert.match(headers.getSetCookie()[0] ?? '', /HttpOnly; SameSite=Lax$/)
    assert.ok(!browser.page.html.includes('<img'))
    assert.ok(textOf(browser.page.html).includes(hostile), 'the name of the app')

    const { ticket } = browser
    const fields = { ticket, user_id: ids.business_user }
    for (const foreign of foreignHeaders) {
      for (const step of ['person', 'decline', 'consent']) {
        const shown = await browser.post(step, fields, foreign)
        assert.equal(shown.status, 403)
        assert.equal(shown.left, undefined)
      }
    }
    const { host } = new URL(server.url)
    assert.equal((await browser.post('person', fields, { origin: `http://${host}` })).status, 200)
  })

  test('takes a ticket only as it was made, from the browser that it was made for, and as long as it is valid', async () => {
    const browser = new DialogBrowser(server)
    await browser.open(asked)
    const { ticket } = browser
    const [body = '', signature = ''] = ticket.split('.')
    const state = JSON.parse(Buffer.from(body, 'base64url').toString())
    const forge = (changes: object) => Buffer.from(JSON.stringify({ ...state, ...changes })).toString('base64url')
    const other = new DialogBrowser(server)
    await other.open({ ...asked, client_id: hostileApp })
    const [, otherSignature = ''] = other.ticket.split('.')
    const user = { user_id: ids.business_user }
    for (const bad of [
      '',
      'x',
      '.',
      `${ticket}.x`,
      `${body}.${signature.slice(1)}`,
      `${body}.${signature.replace(/^h1:./, (start) => (start.endsWith('A') ? 'h1:B' : 'h1:A'))}`,
      `${body}.${otherSignature}`,
      `${forge({ app_id: hostileApp })}.${signature}`,
      `${forge({ redirect_uri: 'https://evil.example' })}.${signature}`,
      `${forge({ expires_time: state.expires_time + 1 })}.${signature}`,
      other.ticket,
    ]) {
      assertRefused(await browser.post('person', { ticket: bad, ...user }), dialogOver())
      assertRefused(await browser.go(`/dialog/person?${new URLSearchParams({ ticket: bad })}`), dialogOver())
      assertRefused(await browser.post('decline', { ticket: bad }), dialogOver())
    }
    const cookie = browser.cookie
    browser.cookie = undefined
    assertRefused(await browser.post('person', { ticket, ...user }), dialogOver())
    browser.cookie = cookie
    await browser.post('person', { ticket, ...user })
    assert.equal(browser.page.url, '/dialog/business')
    await browser.open({ ...asked, client_id: hostileApp, state: 'second' })
    assert.equal(browser.cookie, cookie, 'two dialogs of a browser go on beside each other')
    assert.equal((await browser.post('decline', { ticket })).left?.searchParams.get('state'), asked.state)

    server.clock.advance(dialogLifetime)
    const over = await browser.post('person', { ticket, ...user })
    assertRefused(over, dialogOver())
    assert.deepEqual(messageIn(over), {
      type: 'WA_EMBEDDED_SIGNUP',
      event: 'ERROR',
      data: { error_message: dialogOver().message },
      version: 3,
    })
    assert.match(over.html, /data-origin="https:\/\/suite\.example"/)
    assert.doesNotMatch(over.html, /data-next/)
  })

  test('stops when the app takes the address off its list', async () => {
    const browser = new DialogBrowser(server)
    await browser.open({ ...asked, client_id: hostileApp })
    const { ticket } = browser
    const list = (redirect_uris: string[]) =>
      server.database.transaction((tx) =>
        tx.query.updateTable('apps').set({ redirect_uris }).where('id', '=', hostileApp).execute(),
      )
    await list(['https://other.example/'])
    for (const step of ['decline', 'person']) {
      assertRefused(await browser.post(step, { ticket, user_id: ids.business_user }), dialogWithdrawn())
    }
    assertRefused(await browser.go(`/dialog/person?ticket=${ticket}`), dialogWithdrawn())
    await list([redirect])
  })

  /** A dialog of somebody new that has come to the consent; everything in it is their own. */
  async function reachConsent(name: string): Promise<DialogBrowser & { readonly made: string }> {
    const browser = new DialogBrowser(server)
    await browser.open(asked)
    await browser.send('new-person', { name, email: `${name.toLowerCase()}@old.example` })
    await browser.send('new-business', { name })
    await browser.send('new-account', { name })
    const account = await server.database.read.query
      .selectFrom('accounts')
      .select('id')
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    await browser.send('number', { none: '1' })
    assert.equal(browser.page.url, '/dialog/consent')
    return Object.assign(browser, { made: account.id })
  }

  const lost = /not there any more, or is not yours any more; choose again/

  test('an old page connects nothing after the person was removed, and says that something is gone', async () => {
    const browser = await reachConsent('Removed')
    const { ticket } = browser
    await server.database.transaction((tx) =>
      tx.query.deleteFrom('business_users').where('email', '=', 'removed@old.example').execute(),
    )
    const before = await countAll()
    for (const [step, fields] of [
      ['consent', { popup: '1' }],
      ['new-account', { name: 'Removed too' }],
      ['number', { none: '1' }],
    ] as const) {
      const shown = await browser.post(step, { ticket, ...fields })
      assert.equal(shown.url, '/dialog/business')
      assert.match(textOf(shown.html), lost)
    }
    assert.match(textOf((await browser.go(`/dialog/consent?ticket=${ticket}`)).html), lost)
    assert.equal((await browser.post('decline', { ticket })).left?.searchParams.get('error'), 'access_denied')
    assert.deepEqual(await countAll(), before)
  })

  test('an old page connects no number that has left the account, nor an account that has left the business', async () => {
    const browser = await reachConsent('Moved')
    const { made } = browser
    await browser.go(`/dialog/number?ticket=${browser.ticket}`)
    await browser.send('new-number', { phone_number: '+1 631 555 7311', verified_name: 'Moved' })
    const code = await readCode('16315557311')
    await browser.send('code', { code })
    assert.equal(browser.page.url, '/dialog/consent')
    const { ticket } = browser
    const before = await countAll()
    const move = (table: 'phone_numbers' | 'accounts', to: object, name: 'account_id' | 'id') =>
      server.database.transaction((tx) => tx.query.updateTable(table).set(to).where(name, '=', made).execute())
    await move('phone_numbers', { account_id: accounts.private }, 'account_id')
    const atNumber = await browser.post('consent', { ticket, popup: '1' })
    assert.equal(atNumber.url, '/dialog/number')
    assert.match(textOf(atNumber.html), lost)
    await move('accounts', { business_id: strangerIds.business }, 'id')
    const atAccount = await browser.post('consent', { ticket, popup: '1' })
    assert.equal(atAccount.url, '/dialog/account')
    assert.match(textOf(atAccount.html), lost)
    assert.deepEqual(await countAll(), before)
  })

  test('an old page connects nothing again after the connection ended, and two clicks are one connection', async () => {
    const browser = await reachConsent('Ended')
    const { ticket, made } = browser
    const before = await count('connections')
    for (const _click of [1, 2]) {
      const { left } = await browser.post('consent', { ticket })
      assert.match(left?.searchParams.get('code') ?? '', /^[\w-]{43}$/)
    }
    assert.equal(await count('connections'), before + 1)
    const query = { account_id: made }
    const { body } = await server.client.get('/operator/connections', { token: tokens.operator, query })
    const [{ id }] = body.data
    assert.equal((await server.client.delete(`/operator/connections/${id}`, { token: tokens.operator })).status, 200)
    const codes = async () =>
      (await server.database.read.query.selectFrom('sign_up_codes').select('hash').execute()).length
    const stored = await codes()
    assertRefused(await browser.post('consent', { ticket }), disconnectedSince())
    assertRefused(await browser.post('consent', { ticket, popup: '1' }), disconnectedSince())
    assert.deepEqual([await count('connections'), await codes()], [before + 1, stored])
    const anew = new DialogBrowser(server)
    await anew.open(asked)
    await anew.send('new-person', { name: 'Ended', email: 'ended@old.example' })
    await anew.send('business', pick(anew.page, 'business_id', 'Ended'))
    await anew.send('account', { account_id: made })
    await anew.send('number', { none: '1' })
    assert.ok((await anew.send('consent', {})).left?.searchParams.get('code'), 'a sign-up that begins anew connects')
  })

  test('dialogs of one trace, as those of one test may be, know nothing of each other', async () => {
    const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
    const query = { ...asked, account_id: accounts.private }
    const open = (more: Fields) =>
      new DialogBrowser(server).go(`/dialog/oauth?${new URLSearchParams({ ...query, ...more })}`, { headers })
    const accept = async (client_id: string) => {
      const { left, html } = await open({ client_id, auto: 'accept' })
      assert.match(left?.searchParams.get('code') ?? '', /^[\w-]{43}$/, textOf(html))
    }
    await accept(partnerIds.application)
    await accept(hostileApp)
    const of = { account_id: accounts.private, app_id: partnerIds.application, state: 'live' }
    const { body } = await server.client.get('/operator/connections', { token: tokens.operator, query: of })
    assert.equal(body.data.length, 1)
    await server.client.delete(`/operator/connections/${body.data[0].id}`, { token: tokens.operator })
    await accept(partnerIds.application)
    await server.client.delete(`/operator/connections/${body.data[0].id}`, { token: tokens.operator })

    server.clock.advance(1)
    const browser = new DialogBrowser(server)
    await browser.go(`/dialog/oauth?${new URLSearchParams(asked)}`, { headers })
    assert.equal(browser.page.headers.get('x-svctrace-id'), '0af7651916cd43dd8448eb211c80319c')
    await browser.send('person', { user_id: ids.business_user })
    await browser.send('business', { business_id: ids.business })
    await browser.send('account', { account_id: accounts.private })
    await browser.send('number', { none: '1' })
    assert.ok((await browser.send('consent', {})).left?.searchParams.get('code'), browser.page.html)
  })

  test('answers a test at once', async () => {
    const browser = new DialogBrowser(server)
    const before = await count('connections')
    const accepted = await browser.open({ ...asked, auto: 'accept' }, '/v23.0/dialog/oauth')
    assert.equal(accepted.status, 303)
    assert.match(accepted.left?.searchParams.get('code') ?? '', /^[\w-]{43}$/)
    assert.equal(accepted.left?.searchParams.get('state'), asked.state)
    const declined = await browser.open({ ...asked, auto: 'decline' })
    assert.equal(declined.left?.searchParams.get('error'), 'access_denied')
    const named = { account_id: strangerIds.account, phone_number_id: strangerIds.phone_number }
    // The person alone says which account it is.
    const user_id = strangerIds.business_user
    await browser.open({ ...asked, client_id: hostileApp, auto: 'accept', user_id })
    const wrong = { ...asked, auto: 'accept', user_id, account_id: accounts.private }
    assertRefused(await browser.open(wrong), autoFoundNothing())
    await browser.open({ ...asked, client_id: hostileApp, auto: 'accept', ...named })
    const stored = await server.database.read.query
      .selectFrom('connections')
      .select(['account_id', 'phone_number_id', 'business_id', 'user_id'])
      .where('account_id', '=', strangerIds.account)
      .execute()
    assert.deepEqual(stored, [{ ...named, business_id: strangerIds.business, user_id: strangerIds.business_user }])
    assert.ok((await count('connections')) > before)
    const unknown = { ...asked, auto: 'accept', account_id: '1' }
    assertRefused(await browser.open(unknown), autoFoundNothing())
    const foreign = { ...asked, auto: 'accept', account_id: accounts.private, phone_number_id: numbers.shared }
    assertRefused(await browser.open(foreign), autoNumberUnknown())
    const { left } = await browser.open({ ...asked, auto: 'accept', redirect_uri: 'https://evil.example' })
    assert.equal(left, undefined)
  })

  test('answers no page of another website at once, but a browser that it sends here', async () => {
    const before = await count('sign_up_codes')
    const query = { ...asked, auto: 'accept', account_id: accounts.private }
    // Not by fetch, which says itself what a request is for.
    const open = (headers: Fields) => request(`${server.url}/dialog/oauth?${new URLSearchParams(query)}`, { headers })
    for (const site of ['cross-site', 'same-site']) {
      for (const mode of ['no-cors', 'cors']) {
        const { statusCode, body } = await open({ 'sec-fetch-site': site, 'sec-fetch-mode': mode })
        assert.equal(statusCode, dialogForged().status)
        assert.ok(textOf(await body.text()).includes(dialogForged().message))
      }
    }
    assert.equal(await count('sign_up_codes'), before)
    const sent = await open({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })
    await sent.body.dump()
    assert.equal(sent.statusCode, 303)
    assert.equal(await count('sign_up_codes'), before + 1)
  })
})

onOneDatabase('the dialog of the sign-up outside a sandbox', 'sqlite', (engine) => {
  const env = { NODE_ENV: 'production', PUBLIC_URL: 'https://switchboard.example' }
  const server: TestServer = useTestServer({ engine, env, world: dialogWorld() })

  test('lets nobody be anybody, and still sends back whoever declines', async () => {
    const browser = new DialogBrowser(server)
    const { html, status, headers } = await browser.open(asked)
    assert.equal(status, 200)
    assert.match(headers.getSetCookie()[0] ?? '', /^__Host-switchboard-sign-up=.*; Secure$/)
    assert.match(textOf(html), /Code from whoever runs this service/)
    assert.ok(!html.includes('ada@'))
    const { ticket } = browser
    assert.equal((await browser.send('person', { user_id: ids.business_user })).status, 403)
    assert.equal((await browser.post('new-person', { ticket, name: 'A', email: 'a@b.example' })).status, 403)
    assertRefused(await browser.open({ ...asked, auto: 'accept' }), autoOnlyInSandbox())
    // No guard stands before the door here.
    for (const foreign of foreignHeaders) {
      for (const step of ['person', 'decline', 'consent']) {
        assertRefused(await browser.post(step, { ticket }, foreign), dialogForged())
      }
    }
    const { left } = await browser.post('decline', { ticket })
    assert.equal(left?.searchParams.get('error_reason'), 'user_denied')
  })
})
