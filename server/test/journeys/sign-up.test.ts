import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { notFound } from '../../src/graph/errors.ts'
import { redirectNotListed } from '../../src/resources/sign-up/dialog/errors.ts'
import {
  clientSecretWrong,
  codeUsedOrOld,
  redirectDiffers,
  tokenNotExchanged,
  verifierWrong,
} from '../../src/resources/sign-up/exchange-errors.ts'
import { onBothDatabases } from '../harness/databases.ts'
import { DialogBrowser, textOf } from '../harness/dialog.ts'
import { assertError } from '../harness/errors.ts'
import { startTestServer } from '../harness/server.ts'
import { partnerSecret, redirectUri } from '../harness/sign-up.ts'
import { startSink } from '../harness/sink.ts'
import { partnerIds, testWorld, tokens } from '../harness/world.ts'

const verifier = 'the-verifier-of-a-sign-up-of-a-new-business-0123'
const phone = '16315551077'

/** A partner whose app hears at a real receiver who connects to it. */
async function openStory(t: TestContext, engine: 'sqlite' | 'postgres', vocabulary: 'msgapp' | 'whatsapp') {
  const sink = await startSink(t, (_request, response) => response.writeHead(200).end())
  const world = testWorld()
  const webhook = { callback_url: `${sink.url}/hook`, verify_token: 'vt', fields: ['account_update'] }
  const apps = world.apps.map((app) =>
    app.id === partnerIds.application ? { ...app, webhook, redirect_uris: [redirectUri] } : app,
  )
  const env = { SANDBOX: 'on', VOCABULARY: vocabulary }
  const server = await startTestServer({ engine, env, world: { ...world, apps } })
  t.after(() => server.stop())
  let heard = 0
  return {
    server,
    /** What the app got since the last time, in order. */
    async hear() {
      await server.app.settle()
      const posts = sink.requests.slice(heard).map(({ body }) => JSON.parse(body.toString()))
      heard = sink.requests.length
      return posts
    },
  }
}

onBothDatabases('the story of a sign-up', (engine) => {
  for (const vocabulary of ['msgapp', 'whatsapp'] as const) {
    test(`a new business connects itself, is worked for, and is let go (${vocabulary})`, async (t) => {
      const { server, hear } = await openStory(t, engine, vocabulary)
      const { client } = server
      const [management, messaging] = [`${vocabulary}_business_management`, `${vocabulary}_business_messaging`]
      const scopes = [management, messaging, 'business_management']
      const asked = {
        client_id: partnerIds.application,
        redirect_uri: redirectUri,
        state: 'a&b #1',
        response_type: 'code',
        scope: scopes.join(','),
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }
      const browser = new DialogBrowser(server)
      // What the world gave is older.
      server.clock.advance(1000)

      // What is wrong with a request is a page, in words for people.
      const wrong = await browser.open({ ...asked, redirect_uri: 'https://evil.example/' })
      assert.deepEqual([wrong.status, wrong.left, wrong.headers.get('location')], [400, undefined, null])
      assert.ok(textOf(wrong.html).includes(redirectNotListed().message), textOf(wrong.html))
      assert.ok(!wrong.html.includes('(#'), 'the number of an error is for programs')

      await browser.open(asked, '/v23.0/dialog/oauth')
      await browser.send('new-person', { name: 'Noa', email: 'noa@new.example' })
      await browser.send('new-business', { name: 'Noa and daughters' })
      await browser.send('new-account', { name: 'Orchids' })
      await browser.send('new-number', { phone_number: `+${phone}`, verified_name: 'Orchids', code_method: 'SMS' })
      const outbox = await client.get('/gateway/outbox', { token: tokens.gateway, query: { to: phone } })
      assert.equal((await browser.send('code', { code: outbox.body.data[0].code })).url, '/dialog/consent')
      const atConsent = browser.ticket
      const { left } = await browser.send('consent', {})
      assert.equal(left?.searchParams.get('state'), asked.state)
      const first = left?.searchParams.get('code') ?? ''
      // A second click is the same connection, with a code of its own.
      const again = await browser.post('consent', { ticket: atConsent })
      const code = again.left?.searchParams.get('code') ?? ''
      assert.notEqual(code, first)
      const connections = await client.get('/operator/connections', { token: tokens.operator })
      assert.equal(connections.body.data.length, 1)
      const { id, account_id, business_id, phone_number_id } = connections.body.data[0]

      const waba_info = { waba_id: account_id, owner_business_id: business_id }
      const added = await hear()
      assert.deepEqual(
        added.map(({ object, entry }) => [object, entry[0].id, entry[0].changes[0].value]),
        [first, code].map(() => [`${vocabulary}_business_account`, account_id, { event: 'PARTNER_ADDED', waba_info }]),
      )

      const partner = { client_id: partnerIds.application, client_secret: partnerSecret }
      const given = { ...partner, code, redirect_uri: redirectUri, code_verifier: verifier }
      const exchange = (changes: object = {}) =>
        client.post('/v23.0/oauth/access_token', { form: { ...given, ...changes } })
      assertError(await exchange({ client_secret: 'wrong' }), clientSecretWrong())
      assertError(await exchange({ redirect_uri: `${redirectUri}/` }), redirectDiffers())
      assertError(await exchange({ code_verifier: `${verifier}x` }), verifierWrong())
      assertError(await exchange({ code: 'unknown' }), codeUsedOrOld())
      const { body } = await exchange()
      const token = body.access_token
      const renew = { ...partner, grant_type: 'fb_exchange_token', fb_exchange_token: 'no-such-token' }
      assertError(await client.post('/oauth/access_token', { form: renew }), tokenNotExchanged())
      const debugged = await client.get('/debug_token', {
        token: `${partner.client_id}|${partner.client_secret}`,
        query: { input_token: token },
      })
      assert.deepEqual(debugged.body.data.granular_scopes, [
        { scope: management, target_ids: [account_id] },
        { scope: messaging, target_ids: [account_id] },
        { scope: 'business_management', target_ids: [business_id] },
      ])
      assert.equal((await client.get('/v23.0/me', { token })).body.name, 'Noa')

      // The reads that a partner begins with.
      const numbers = await client.get(`/v23.0/${account_id}/phone_numbers`, { token })
      assert.deepEqual(
        numbers.body.data.map((one: { id: string }) => one.id),
        [phone_number_id],
      )
      const shared = `/v23.0/${partnerIds.business}/client_${vocabulary}_business_accounts`
      const clients = `/v23.0/${partnerIds.application}/connected_client_businesses`
      const listIds = async (path: string) =>
        (await client.get(path, { token: tokens.partner })).body.data.map((one: { id: string }) => one.id)
      assert.equal((await listIds(shared))[0], account_id)
      const connected = (await client.get(clients, { token: tokens.partner })).body.data[0]
      const created_time = new Date(server.clock.now()).toISOString()
      assert.deepEqual(connected, { id: business_id, name: 'Noa and daughters', created_time })

      // A code that comes again has leaked.
      assertError(await exchange(), codeUsedOrOld())
      assert.equal((await client.get('/v23.0/me', { token })).status, 401)
      const second = (await exchange({ code: first })).body.access_token
      assert.equal((await client.get(`/v23.0/${account_id}`, { token: second })).status, 200)

      // One permission less, then none: the connection ends, with all that rested on it.
      const take = (scope = '') => client.delete(`/v23.0/me/permissions${scope}`, { token: second })
      assert.equal((await take(`/${messaging}`)).status, 200)
      const fewer = await client.get('/operator/connections', { token: tokens.operator })
      assert.deepEqual(fewer.body.data[0].scopes, [management, 'business_management'])
      assert.equal((await take()).status, 200)
      assert.equal((await client.get(`/v23.0/${account_id}`, { token: second })).status, 401)
      assertError(await client.get(`/v23.0/${account_id}`, { token: tokens.partner }), notFound())
      assert.ok(!(await listIds(shared)).includes(account_id))
      assert.ok(!(await listIds(clients)).includes(business_id))
      assert.deepEqual(
        (await hear()).map(({ entry }) => entry[0].changes[0].value),
        [{ event: 'PARTNER_REMOVED', waba_info }],
      )
      const ended = await client.get('/operator/connections', { token: tokens.operator })
      assert.deepEqual(
        ended.body.data.map((one: { id: string; ended_time: string | null }) => [one.id, one.ended_time !== null]),
        [[id, true]],
      )
    })
  }
})
