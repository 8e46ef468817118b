import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { DialogBrowser, type Shown, textOf } from '../../../../test/harness/dialog.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { accounts, ids, partnerIds, strangerIds, testWorld, tokens } from '../../../../test/harness/world.ts'
import { systemRandom } from '../../../base/keys/random.ts'
import { hour, minute } from '../../../base/time/duration.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { notFound } from '../../../graph/errors.ts'
import { applyWorld } from '../../../world/apply.ts'
import { readWorld } from '../../../world/read.ts'
import { notADuration } from '../../operators/public.ts'
import { createBusinessUser } from '../../portfolio/store.ts'
import { nobodySignsInHere, personCodeWrong, personElsewhere } from './errors.ts'
import { drawBrowser, nobodyYet, writeTicket } from './ticket.ts'

const redirect = 'https://suite.example/connected'
const asked = { client_id: partnerIds.application, redirect_uri: redirect, state: 's', response_type: 'code' }
const maxGuesses = 20
/** A person of two businesses. */
const shared = '2300000000000901'

function signInWorld() {
  const world = testWorld()
  const second = { id: '2300000000000902', name: 'Cleo Both', email: 'cleo@both.example' }
  const more: Record<string, object> = {
    [ids.business]: { ...second, id: shared },
    [strangerIds.business]: second,
  }
  return {
    ...world,
    businesses: world.businesses.map((business) => {
      const user = more[business.id]
      return user ? { ...business, users: [...('users' in business ? (business.users ?? []) : []), user] } : business
    }),
    apps: world.apps.map((app) => (app.id === partnerIds.application ? { ...app, redirect_uris: [redirect] } : app)),
  }
}

onOneDatabase('signing in to the dialog of the sign-up', 'sqlite', (engine) => {
  const env = {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://switchboard.example',
    RATE_LIMITS: 'on',
    RATE_LIMIT_FAILURES: `${maxGuesses}/1m`,
  }
  const server = useTestServer({ engine, env, world: signInWorld() })

  function makeLink(
    user_id: string,
    business_id: string = ids.business,
    more: object = {},
    token: string = tokens.operator,
  ) {
    return server.client.post(`/operator/businesses/${business_id}/users/${user_id}/link`, { token, json: more })
  }

  async function makeCode(user_id: string, business_id?: string): Promise<string> {
    const { body, status } = await makeLink(user_id, business_id)
    assert.equal(status, 200, JSON.stringify(body))
    return body.code
  }

  async function open(): Promise<DialogBrowser> {
    const browser = new DialogBrowser(server)
    await browser.open(asked)
    return browser
  }

  function assertWrong({ url, status, html }: Shown): void {
    assert.equal(url, '/dialog/sign-in')
    assert.equal(status, 422)
    assert.match(html, /aria-invalid="true"/)
    assert.ok(textOf(html).includes(personCodeWrong().message), textOf(html))
  }

  test('whoever is a person of no business any more is signed out', async () => {
    const email = 'leaver@both.example'
    const leaver = { name: 'Leaver', email, business_id: ids.business }
    const id = await server.database.transaction((tx) =>
      createBusinessUser(tx, systemRandom, server.clock.now(), leaver),
    )
    const browser = await open()
    await browser.send('sign-in', { code: await makeCode(id) })
    assert.equal(browser.page.url, '/dialog/business')
    const { ticket } = browser
    await server.database.transaction((tx) => tx.query.deleteFrom('business_users').where('id', '=', id).execute())
    const businesses = () => server.database.read.query.selectFrom('businesses').select('id').execute()
    const before = await businesses()
    for (const step of ['new-business', 'business', 'consent']) {
      const shown = await browser.post(step, { ticket, name: 'Taken along', business_id: ids.business })
      assert.equal(shown.url, '/dialog/person')
      assert.match(textOf(shown.html), /Sign in .* not there any more, or is not yours any more/)
    }
    assert.deepEqual(await businesses(), before)
  })

  test('a person signs in with a code, and connects an account of theirs', async () => {
    const code = await makeCode(ids.business_user)
    assert.match(code, /^[\w-]{43}$/)
    const browser = await open()
    assert.match(textOf(browser.page.html), /Sign in .* Code from whoever runs this service/)
    assert.ok(!browser.page.html.includes('ada@'))
    // As it was copied out of a mail.
    const business = await browser.send('sign-in', { code: ` ${code}\n` })
    assert.equal(business.url, '/dialog/business')
    assert.match(textOf(business.html), /You are Ada Shrub , ada@lucky-shrub.example/)
    assert.ok(!business.html.includes(strangerIds.business))
    await browser.send('business', { business_id: ids.business })
    await browser.send('account', { account_id: accounts.private })
    await browser.send('number', { none: '1' })
    const { left } = await browser.send('consent', {})
    assert.match(left?.searchParams.get('code') ?? '', /^[\w-]{43}$/)
    const { body } = await server.client.get('/operator/audit', { token: tokens.operator, query: { limit: '10' } })
    const done = body.data.map(({ operation, node_id }: Record<string, string>) => [operation, node_id])
    for (const operation of ['operator.create_user_link', 'sign_up.sign_in'])
      assert.ok(
        done.some(([name, id]: string[]) => name === operation && id === ids.business_user),
        operation,
      )
    const { rows } = await server.database.read.query
      .selectFrom('connections')
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .where('user_id', '=', ids.business_user)
      .executeTakeFirstOrThrow()
    assert.equal(Number(rows), 1)
    assert.match((await browser.go(`/dialog/person?${new URLSearchParams({ ticket: '' })}`)).html, /sign-up is over/)
  })

  test('a code is that of its person, who may choose among their own businesses or add one', async () => {
    const browser = await open()
    const { html } = await browser.send('sign-in', { code: await makeCode(shared) })
    for (const id of [ids.business, strangerIds.business]) assert.ok(html.includes(`value="${id}"`), id)
    const { ticket } = browser
    assert.equal((await browser.post('business', { ticket, business_id: partnerIds.business })).status, 422)
    // Who is signed in is still nobody else.
    assert.equal((await browser.post('person', { ticket, user_id: strangerIds.business_user })).status, 403)
    const person = { name: 'Sven', email: 'sven@stranger.example' }
    const pretended = await browser.post('new-person', { ticket, ...person })
    assert.equal(pretended.status, 403)
    assert.ok(textOf(pretended.html).includes(nobodySignsInHere().message))
    const account = await browser.post('new-business', { ticket, name: 'Both & Co' })
    assert.equal(account.url, '/dialog/account')
    const again = await browser.go(`/dialog/person?${new URLSearchParams({ ticket: browser.ticket })}`)
    assert.match(textOf(again.html), /You signed in as Cleo Both/)
    const sven = await browser.send('sign-in', {
      code: await makeCode(strangerIds.business_user, strangerIds.business),
    })
    assert.match(textOf(sven.html), /You are Sven Stranger/)
    assert.ok(!sven.html.includes(ids.business))
  })

  test('a code works once, also when it comes twice at once', async () => {
    const [one, other] = [await open(), await open()]
    const code = await makeCode(ids.business_user)
    const shown = await Promise.all([one, other].map((browser) => browser.send('sign-in', { code })))
    assert.deepEqual(shown.map(({ url }) => url).toSorted(), ['/dialog/business', '/dialog/sign-in'])
    for (const page of shown) if (page.url === '/dialog/sign-in') assertWrong(page)
    assertWrong(await (await open()).send('sign-in', { code }))
  })

  test('a code that is wrong, too old or of nobody any more says the same', async () => {
    const browser = await open()
    for (const code of ['', 'x', 'ü'.repeat(500), drawBrowser(systemRandom)]) {
      assertWrong(await browser.send('sign-in', { code }))
    }
    const { ticket } = browser
    assertWrong(await browser.post('sign-in', { ticket }))
    const { body } = await makeLink(ids.business_user, ids.business, { expires: '10m' })
    assert.equal(body.expires_time, new Date(server.clock.now() + 10 * minute).toISOString())
    server.clock.advance(10 * minute)
    assertWrong(await browser.send('sign-in', { code: body.code }))
    const usual = (await makeLink(ids.business_user)).body
    assert.equal(usual.expires_time, new Date(server.clock.now() + hour).toISOString())
    const stored = await server.database.read.query.selectFrom('business_user_links').selectAll().execute()
    assert.ok(!JSON.stringify(stored).includes(usual.code), 'no code is stored')
    assert.ok(
      stored.every(({ expires_time }) => expires_time > server.clock.now()),
      'what is over is gone',
    )
    await server.database.transaction((tx) =>
      tx.query.updateTable('business_user_links').set({ user_id: '2300000000000999' }).execute(),
    )
    assertWrong(await browser.send('sign-in', { code: usual.code }))
  })

  test('a ticket of a sandbox says nothing about who somebody is', async () => {
    const browser = await open()
    const secret = (browser.cookie ?? '').split('=')[1] ?? ''
    const carried = {
      ...nobodyYet,
      app_id: partnerIds.application,
      redirect_uri: redirect,
      state: 's',
      scopes: ['msgapp_business_management'],
      code_challenge: null,
      trace: 'A'.repeat(16),
      expires_time: server.clock.now() + hour,
      person: { name: 'Ada Shrub', email: 'ada@lucky-shrub.example' },
      user_id: ids.business_user,
      business_id: ids.business,
      account_id: accounts.private,
      number_done: true,
    } as const
    const { read } = server.database
    const isProven = writeTicket(read, secret, { ...carried, proven_by: 'link' })
    const reached = await browser.go(`/dialog/consent?${new URLSearchParams({ ticket: isProven })}`)
    assert.equal(reached.url, '/dialog/consent', 'the ticket is right but for who proved it')
    const { proven_by: _, ...older } = carried
    for (const state of [carried, older as typeof carried]) {
      const ticket = writeTicket(read, secret, state)
      for (const step of ['business', 'account', 'number', 'consent']) {
        const { url, html } = await browser.go(`/dialog/${step}?${new URLSearchParams({ ticket })}`)
        assert.equal(url, '/dialog/person')
        assert.ok(!html.includes(ids.business), 'nothing of the business is shown')
        await browser.post(step, { ticket, business_id: ids.business, account_id: accounts.private })
        assert.equal(browser.page.url, '/dialog/person', step)
        assert.equal(browser.page.left, undefined)
      }
      await browser.post('new-business', { ticket, name: 'Mine' })
      assert.equal(browser.page.url, '/dialog/person')
    }
  })

  test('an operator makes codes for people of businesses that the operator sees, all of them', async () => {
    const limited = (user: string, business: string) => makeLink(user, business, {}, tokens.limitedOperator)
    assert.equal((await limited(strangerIds.business_user, strangerIds.business)).status, 200)
    assertError(await limited(ids.business_user, ids.business), notFound())
    assertError(await limited(ids.business_user, strangerIds.business), notFound())
    assertError(await limited('2300000000000902', strangerIds.business), personElsewhere())
    assertError(await makeLink('2300000000000999'), notFound())
    assertError(await makeLink(ids.business), notFound())
    for (const expires of ['0d', 'x', '9999999d']) {
      const wrong = await makeLink(ids.business_user, ids.business, { expires })
      assertError(wrong, badArgument(notADuration('expires')))
    }
    const { status } = await makeLink(ids.business_user, ids.business, {}, tokens.owner)
    assert.equal(status, 403)
  })

  test('a code ends when the address of its person comes to another business, by the dialog or by a world file', async () => {
    const { database, clock } = server
    const address = 'joiner@both.example'
    const joiner = { name: 'Joiner', email: address, business_id: strangerIds.business }
    const id = await database.transaction((tx) => createBusinessUser(tx, systemRandom, clock.now(), joiner))
    const limited = async () => {
      const { status, body, text } = await makeLink(id, strangerIds.business, {}, tokens.limitedOperator)
      assert.equal(status, 200, text)
      return body.code as string
    }
    const apply = (business_id: string, user: object) => {
      const file = { businesses: [{ id: business_id, name: 'Lucky Shrub', users: [user] }] }
      return applyWorld(database, clock, systemRandom, readWorld(JSON.stringify(file), 'test world'))
    }
    const before = await limited()
    const user = { id: '2300000000000977', name: 'Joiner', email: 'other@both.example' }
    await apply(ids.business, user)
    assert.equal((await (await open()).send('sign-in', { code: before })).url, '/dialog/business', 'of another address')

    // As a new person, and as one whose address was changed.
    for (const users of [
      { ...user, id: '2300000000000978', email: 'Joiner@both.example' },
      { ...user, email: address },
    ]) {
      const code = await limited()
      await apply(ids.business, users)
      assertWrong(await (await open()).send('sign-in', { code }))
      assertError(await makeLink(id, strangerIds.business, {}, tokens.limitedOperator), personElsewhere())
      await apply(ids.business, { ...users, email: `${users.id}@both.example` })
    }
    const code = await limited()
    const other = await open()
    await other.send('sign-in', { code: await makeCode(id, strangerIds.business) })
    await other.send('new-business', { name: 'A second one' })
    assertWrong(await (await open()).send('sign-in', { code }))
    assertError(await makeLink(id, strangerIds.business, {}, tokens.limitedOperator), personElsewhere())
  })

  test('whoever guesses too often is refused, also with the right code', async () => {
    server.clock.advance(minute)
    const code = await makeCode(ids.business_user)
    const browser = await open()
    for (let guess = 0; guess < maxGuesses; guess++) {
      assertWrong(await browser.send('sign-in', { code: `guess ${guess}` }))
    }
    assert.equal((await browser.send('sign-in', { code })).status, 429)
    server.clock.advance(minute)
    assert.equal((await browser.send('sign-in', { code })).url, '/dialog/business')
  })
})
