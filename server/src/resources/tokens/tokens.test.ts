import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Answer } from '../../../test/harness/client.ts'
import { onBothDatabases, onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, partnerIds, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { insertLink, proofHeader, proofOf } from '../../auth/sessions.ts'
import { insertToken } from '../../auth/tokens.ts'
import { systemRandom } from '../../base/keys/random.ts'
import type { Scope } from '../../graph/caller.ts'
import { badArgument } from '../../graph/define-error.ts'
import { invalidToken, missingToken, notFound } from '../../graph/errors.ts'
import { proofMissing, proofWrong, unknownVersion, versionNotListed } from '../../http/errors.ts'
import { rateLimitReached } from '../../limits/errors.ts'
import { applyWorld } from '../../world/apply.ts'
import { readWorld } from '../../world/read.ts'
import { tokenIsOfApp } from '../operators/errors.ts'
import { connect } from '../sign-up/connections.ts'
import { subscriptionOfAllAccounts, subscriptionOfAnother } from '../webhooks/errors.ts'
import { debugNeedsApp, inputTokenOfAnother, notForSessions, scopeNotHeld, tokenStaysWithSecret } from './errors.ts'

const hour = 3_600_000
const secret = 'shrub-app-secret'
const appToken = `${ids.application}|${secret}`
const partnerAppToken = `${partnerIds.application}|partner-app-secret`
const management = 'msgapp_business_management'
const messaging = 'msgapp_business_messaging'
const both: readonly Scope[] = [management, messaging]
const provingApp = '3000000000000004'
const provingSecret = 'proving-app-secret'
const provingToken = 'token-of-the-app-that-demands-the-proof'

/** With an app that demands the proof of its secret. */
function world() {
  const { apps, tokens: given, ...others } = testWorld()
  const proving = { id: provingApp, business_id: ids.business, secret: provingSecret, require_appsecret_proof: true }
  const own = { token: provingToken, app_id: provingApp, scopes: [...both] }
  return { ...others, apps: [...apps, proving], tokens: [...given, own] }
}

function prove(token: string, key: string): string {
  return createHmac('sha256', key).update(token).digest('hex')
}

onBothDatabases('what a token is', (engine) => {
  const server = useTestServer({ engine, world: world() })
  let made = 0

  /** A token of the first app. */
  async function make(given: Partial<Parameters<typeof insertToken>[3]> = {}): Promise<string> {
    made += 1
    const token = { secret: `made-${made}`, app_id: ids.application, scopes: both, accounts: null, expires_time: null }
    await server.database.transaction((tx) => insertToken(tx, server.clock, systemRandom, { ...token, ...given }))
    return `made-${made}`
  }

  /** What the person of the owner agreed to for the partner's app, and a token for it. */
  async function connected(account_id: string, scopes: readonly Scope[]): Promise<{ id: string; token: string }> {
    const context = { clock: server.clock, random: systemRandom, settings: { signUpCodeLifetime: hour } }
    const consent = { phone_number_id: null, scopes, redirect_uri: 'https://partner.example', code_challenge: null }
    const { connection_id: id } = await server.database.transaction((db) =>
      connect(
        { ...context, db },
        { ...consent, app_id: partnerIds.application, user_id: ids.business_user, account_id },
      ),
    )
    return { id, token: await give(id, account_id, scopes) }
  }

  const give = (connection_id: string, account: string, scopes: readonly Scope[]) =>
    make({ app_id: partnerIds.application, scopes, accounts: [account], connection_id, user_id: ids.business_user })

  const findConnection = (id: string) =>
    server.database.read.query.selectFrom('connections').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

  const debug = async (input_token: string, token = appToken) =>
    server.client.get('/v23.0/debug_token', { token, query: { input_token } })

  async function inspect(input_token: string, token = appToken) {
    const answer = await debug(input_token, token)
    assert.equal(answer.status, 200, answer.text)
    return answer.body.data
  }

  const me = (token?: string, query = {}) => server.client.get('/v23.0/me', { token, query })

  const read = (token: string, id: string, query = {}) => server.client.get(`/v23.0/${id}`, { token, query })

  describe('GET /me', () => {
    test('is the person to whom the token belongs, or its app', async () => {
      assert.deepEqual((await me(tokens.owner)).body, { id: ids.application, name: 'Shrub CRM' })
      assert.deepEqual((await me(tokens.unscoped)).body, { id: ids.application, name: 'Shrub CRM' })
      assert.deepEqual((await me(partnerAppToken)).body, { id: partnerIds.application, name: 'Partner Suite' })
      const person = await make({ user_id: ids.business_user })
      assert.deepEqual((await me(person)).body, { id: ids.business_user, name: 'Ada Shrub' })
      assert.deepEqual((await me(person, { fields: 'name' })).body, { name: 'Ada Shrub' })
    })

    test('refuses what has no token, or one that is over, and versions that are not served', async () => {
      assertError(await me(), missingToken())
      for (const token of [tokens.expired, 'no-such-token']) assertError(await me(token), invalidToken())
      const { status, body } = await server.client.get('/v99.0/me', { token: tokens.owner })
      assert.equal(status, 400)
      assertError({ status, body }, unknownVersion)
      assert.equal((await server.client.get('/me', { token: tokens.owner })).status, 404)
    })
  })

  describe('the token that an app has by its secret', () => {
    test('sees the app and its business, and no account', async () => {
      assert.equal((await read(appToken, ids.business)).body.name, 'Lucky Shrub')
      const solutions = `/v23.0/${ids.application}/msgapp_business_solutions`
      assert.equal((await server.client.get(solutions, { token: appToken })).status, 200)
      for (const id of [accounts.private, ids.phone_number, partnerIds.business]) {
        assertError(await read(appToken, id), notFound())
      }
    })

    test('reads and sets the subscriptions of its app, and of no other', async () => {
      const path = (app: string) => `/v23.0/${app}/subscriptions`
      const listed = await server.client.get(path(ids.application), { token: appToken })
      assert.equal(listed.status, 200, listed.text)
      const query = { object: 'msgapp_business_account' }
      const removed = await server.client.delete(path(ids.application), { token: appToken, query })
      assert.deepEqual([removed.status, removed.body], [200, { success: true }])
      assertError(await server.client.get(path(provingApp), { token: appToken }), subscriptionOfAnother())
      const { token } = await connected(accounts.private, both)
      const ofPartner = await server.client.get(path(partnerIds.application), { token })
      assertError(ofPartner, subscriptionOfAllAccounts())
    })

    test('is another app’s with another app’s secret, and nobody’s with a wrong one', async () => {
      assertError(await me(`${ids.application}|partner-app-secret`), invalidToken())
      assertError(await me(`${ids.application}|`), invalidToken())
      assertError(await me(`${appToken}x`), invalidToken())
    })

    test('is none that somebody made: it is in no list, and ends with the secret alone', async () => {
      const token = { token: tokens.operator }
      const { data } = (await server.client.get('/operator/tokens', { ...token, query: { limit: '1000' } })).body
      const { query } = server.database.read
      const own = await query.selectFrom('tokens').select('id').where('is_of_app', '=', true).execute()
      const listed = (data as { id: string }[]).map(({ id }) => id)
      assert.deepEqual(
        own.filter(({ id }) => listed.includes(id)),
        [],
      )
      const { id } = await query
        .selectFrom('tokens')
        .select('id')
        .where('is_of_app', '=', true)
        .where('app_id', '=', ids.application)
        .executeTakeFirstOrThrow()
      assertError(await server.client.delete(`/operator/tokens/${id}`, token), tokenIsOfApp({ app: ids.application }))
      assert.equal((await me(appToken)).status, 200)
    })

    test('follows the secret: through a rotation with its overlap, and back', async () => {
      const rotate = async (overlap: string): Promise<string> => {
        const path = `/operator/apps/${partnerIds.application}/secret`
        const answer = await server.client.post(path, { token: tokens.operator, json: { overlap } })
        assert.equal(answer.status, 200, answer.text)
        return `${partnerIds.application}|${answer.body.secret}`
      }
      const second = await rotate('1h')
      for (const token of [partnerAppToken, second]) assert.equal((await me(token)).status, 200)
      assert.equal((await inspect(partnerAppToken, second)).expires_at, (server.clock.now() + hour) / 1000)
      const third = await rotate('1h')
      assertError(await me(partnerAppToken), invalidToken())
      assert.equal((await me(second)).status, 200)
      server.clock.advance(hour)
      assertError(await me(second), invalidToken())
      assert.equal((await me(third)).status, 200)
      await applyWorld(server.database, server.clock, systemRandom, readWorld(JSON.stringify(world()), 'w'))
      assert.equal((await me(partnerAppToken)).status, 200)
      assertError(await me(third), invalidToken())
    })
  })

  describe('GET /debug_token', () => {
    test('tells an app about its own tokens, with and without a version', async () => {
      const expires_time = server.clock.now() + hour
      const token = await make({ accounts: [accounts.shared], expires_time, user_id: ids.business_user })
      const expected = {
        app_id: ids.application,
        application: 'Shrub CRM',
        type: 'SYSTEM_USER',
        is_valid: true,
        issued_at: server.clock.now() / 1000,
        expires_at: expires_time / 1000,
        scopes: both,
        granular_scopes: both.map((scope) => ({ scope, target_ids: [accounts.shared] })),
        user_id: ids.business_user,
      }
      assert.deepEqual(await inspect(token), expected)
      const unversioned = { token: appToken, query: { input_token: token } }
      assert.deepEqual((await server.client.get('/debug_token', unversioned)).body.data, expected)
      assert.equal((await server.client.get('/v99.0/debug_token', unversioned)).status, 400)
    })

    test('tells what has no limit, and whose the app’s own token is', async () => {
      const { expires_at, granular_scopes } = await inspect(tokens.owner)
      assert.deepEqual([expires_at, granular_scopes], [0, both.map((scope) => ({ scope }))])
      const { type, application, is_valid } = await inspect(appToken)
      assert.deepEqual([type, application, is_valid], ['APP', 'Shrub CRM', true])
    })

    test('names the business where a token is limited to accounts of it', async () => {
      const token = await make({ scopes: ['business_management'], accounts: [accounts.shared] })
      assert.deepEqual((await inspect(token)).granular_scopes, [
        { scope: 'business_management', target_ids: [ids.business] },
      ])
    })

    test('names the businesses of the accounts, also where they are not the one of the app', async () => {
      const limited = { app_id: partnerIds.application, scopes: ['business_management'] as const }
      const inspectAs = async (given: object) => {
        const token = await make({ ...limited, ...given })
        return (await debug(token, partnerAppToken)).body.data.granular_scopes
      }
      assert.deepEqual(await inspectAs({ accounts: [accounts.shared] }), [
        { scope: 'business_management', target_ids: [ids.business] },
      ])
      assert.deepEqual(await inspectAs({ accounts: [strangerIds.account, accounts.shared, accounts.private] }), [
        { scope: 'business_management', target_ids: [ids.business, strangerIds.business].sort() },
      ])
      assert.deepEqual(await inspectAs({ accounts: [] }), [{ scope: 'business_management', target_ids: [] }])
    })

    test('says why a token is not valid', async () => {
      const { data } = { data: await inspect(tokens.expired) }
      assert.deepEqual([data.is_valid, data.error.code, data.error.subcode], [false, 190, 463])
      const token = await make()
      assert.equal((await server.client.delete('/v23.0/me/permissions', { token })).status, 200)
      const revoked = await inspect(token)
      assert.deepEqual([revoked.is_valid, revoked.error.code, revoked.error.subcode], [false, 190, 467])
      const unknown = await inspect('no-such-token')
      assert.deepEqual([unknown.is_valid, unknown.scopes, unknown.error.code], [false, [], 190])
    })

    test('tells nobody about the tokens of another app but operators of its business', async () => {
      const refused = badArgument(inputTokenOfAnother('input_token'))
      assertError(await debug(tokens.owner, partnerAppToken), refused)
      assertError(await debug(appToken, partnerAppToken), refused)
      assert.equal((await inspect(tokens.partner, tokens.operator)).app_id, partnerIds.application)
      assertError(await debug(tokens.owner, tokens.limitedOperator), refused)
      assert.equal((await inspect(tokens.stranger, tokens.limitedOperator)).is_valid, true)
    })

    test('is for whoever is signed in to the console, who is no app', async () => {
      const link = { name: 'Ada', accounts: null, businesses: null, expires_time: server.clock.now() + hour }
      const code = await server.database.transaction((tx) => insertLink(tx, systemRandom, link))
      const signedIn = await server.client.post('/console/session', { headers: { 'x-console-code': code } })
      const [cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';')
      const headers = { cookie, [proofHeader]: proofOf(cookie.slice(cookie.indexOf('=') + 1)) }
      const query = { input_token: tokens.partner }
      const answer = await server.client.get('/debug_token', { headers, query })
      assert.equal(answer.body.data.app_id, partnerIds.application)
      assertError(await server.client.get('/v23.0/me', { headers }), notForSessions())
      assertError(await server.client.delete('/v23.0/me/permissions', { headers }), notForSessions())
    })

    test('is for apps and operators', async () => {
      for (const token of [tokens.owner, tokens.gateway, tokens.unscoped]) {
        assertError(await debug(token, token), debugNeedsApp())
      }
    })
  })

  describe('DELETE /me/permissions', () => {
    const takeBack = (token: string, scope = '') =>
      server.client.delete(`/v23.0/me/permissions${scope && `/${scope}`}`, { token })

    test('of a token that stands alone: one goes, and with the last the token', async () => {
      const token = await make()
      assert.deepEqual((await takeBack(token, messaging)).body, { success: true })
      assert.deepEqual((await inspect(token)).scopes, [management])
      const held = badArgument(scopeNotHeld('scope', { held: [management] }))
      for (const scope of [messaging, 'business_management', 'no_such_scope']) {
        assertError(await takeBack(token, scope), held)
      }
      assert.equal((await takeBack(token, 'whatsapp_business_management')).status, 200)
      assertError(await me(token), invalidToken())
      assert.equal((await inspect(token)).is_valid, false)
    })

    test('of a token that stands alone: all of them', async () => {
      const token = await make()
      assert.deepEqual((await takeBack(token)).body, { success: true })
      assertError(await takeBack(token), invalidToken())
    })

    test('of a connection: one goes from all its tokens, and with the last the connection ends', async () => {
      const { id, token } = await connected(accounts.smallBusiness, both)
      const other = await give(id, accounts.smallBusiness, both)
      const unlike = await give(id, accounts.smallBusiness, [messaging])
      assert.equal((await read(token, accounts.smallBusiness)).status, 200)
      assert.equal((await takeBack(token, messaging)).status, 200)
      assert.deepEqual((await findConnection(id)).scopes, [management])
      for (const one of [token, other]) {
        assert.deepEqual((await inspect(one, tokens.operator)).scopes, [management])
      }
      assert.equal((await inspect(unlike, tokens.operator)).is_valid, false)
      assert.equal((await takeBack(other, management)).status, 200)
      assert.notEqual((await findConnection(id)).ended_time, null)
      for (const one of [token, other]) assertError(await me(one), invalidToken())
      assertError(await read(tokens.partner, accounts.smallBusiness), notFound())
    })

    test('of a connection: all of them end it', async () => {
      const { id, token } = await connected(accounts.private, both)
      assert.equal((await takeBack(token)).status, 200)
      assert.equal((await findConnection(id)).ended_time, server.clock.now())
      assertError(await me(token), invalidToken())
      assertError(await read(tokens.partner, accounts.private), notFound())
    })

    test('not of the token that an app has by its secret', async () => {
      assertError(await takeBack(appToken), tokenStaysWithSecret())
      assertError(await takeBack(appToken, messaging), tokenStaysWithSecret())
      assert.equal((await me(appToken)).status, 200)
    })
  })

  describe('appsecret_proof', () => {
    const good = { appsecret_proof: prove(tokens.owner, secret) }
    const wrong = badArgument(proofWrong('appsecret_proof'))
    const missing = badArgument(proofMissing('appsecret_proof'))
    const post = (token: string, options: object) => server.client.post(`/v23.0/${ids.account}`, { token, ...options })

    test('is checked wherever it is sent', async () => {
      assert.equal((await read(tokens.owner, ids.account, good)).status, 200)
      assert.equal((await me(tokens.owner, good)).status, 200)
      assert.equal((await post(tokens.owner, { query: good, json: {} })).status, 200)
      assert.equal((await post(tokens.owner, { json: good })).status, 200)
      assert.equal((await post(tokens.owner, { form: good })).status, 200)
      assert.equal((await post(tokens.owner, { multipart: good })).status, 200)
      const upper = { appsecret_proof: good.appsecret_proof.toUpperCase() }
      assert.equal((await read(tokens.owner, ids.account, upper)).status, 200)
      for (const text of [prove(tokens.owner, 'partner-app-secret'), prove(tokens.partner, secret), 'x', '']) {
        const bad = { appsecret_proof: text }
        assertError(await read(tokens.owner, ids.account, bad), wrong)
        assertError(await me(tokens.owner, bad), wrong)
        assertError(await post(tokens.owner, { query: bad, json: {} }), wrong)
        assertError(await post(tokens.owner, { json: bad }), wrong)
        assertError(await post(tokens.owner, { query: good, form: bad }), wrong)
        assertError(await post(tokens.owner, { multipart: bad }), wrong)
      }
      assertError(await post(tokens.owner, { json: { appsecret_proof: 1 } }), wrong)
      const own = { appsecret_proof: prove(appToken, secret) }
      assert.equal((await me(appToken, own)).status, 200)
      assertError(await me(appToken, good), wrong)
    })

    test('is demanded where the app says so, before anything else is said', async () => {
      const proof = { appsecret_proof: prove(provingToken, provingSecret) }
      for (const id of [ids.account, '1234567890123456']) assertError(await read(provingToken, id), missing)
      assertError(await me(provingToken), missing)
      assertError(await post(provingToken, { json: {} }), missing)
      assertError(await server.client.delete('/v23.0/me/permissions', { token: provingToken }), missing)
      assert.equal((await read(provingToken, ids.account, proof)).status, 200)
      assert.equal((await me(provingToken, proof)).body.id, provingApp)
      assert.equal((await post(provingToken, { json: proof })).status, 200)
      assert.equal((await post(provingToken, { query: proof, json: {} })).status, 200)
    })

    test('is not demanded of the token that has the secret in it', async () => {
      assert.equal((await me(`${provingApp}|${provingSecret}`)).status, 200)
    })

    test('may be made with the secret before, while that overlaps', async () => {
      const path = `/operator/apps/${provingApp}/secret`
      const { body } = await server.client.post(path, { token: tokens.operator, json: { overlap: '1h' } })
      const old = { appsecret_proof: prove(provingToken, provingSecret) }
      const current = { appsecret_proof: prove(provingToken, body.secret) }
      for (const proof of [old, current]) assert.equal((await me(provingToken, proof)).status, 200)
      server.clock.advance(hour)
      assertError(await me(provingToken, old), wrong)
      assert.equal((await me(provingToken, current)).status, 200)
    })
  })
})

onOneDatabase('what a token is, in the other vocabulary', 'sqlite', (engine) => {
  const server = useTestServer({ engine, world: world(), env: { VOCABULARY: 'whatsapp' } })

  test('has its spelling of permissions, and tokens and proofs in the query', async () => {
    const { data } = (
      await server.client.get('/debug_token', { query: { access_token: appToken, input_token: tokens.owner } })
    ).body
    assert.deepEqual(data.scopes, ['whatsapp_business_management', 'whatsapp_business_messaging'])
    for (const path of ['/me', '/v19.0/me']) {
      const { body } = await server.client.get(path, { query: { access_token: tokens.owner } })
      assert.deepEqual(body, { id: ids.application, name: 'Shrub CRM' })
    }
    const proof = { access_token: provingToken, appsecret_proof: prove(provingToken, provingSecret) }
    assert.equal((await server.client.get('/v23.0/me', { query: proof })).status, 200)
    const refused = await server.client.get('/v23.0/me', { query: { access_token: provingToken } })
    assertError(refused, badArgument(proofMissing('appsecret_proof')))
    assertError(await server.client.get('/v99.0/debug_token'), versionNotListed)
    const gone = await server.client.delete('/me/permissions/whatsapp_business_messaging', { token: tokens.owner })
    assert.deepEqual(gone.body, { success: true })
    const held = badArgument(scopeNotHeld('scope', { held: ['whatsapp_business_management'] }))
    assertError(await server.client.delete('/me/permissions/business_management', { token: tokens.owner }), held)
  })
})

onOneDatabase('guesses of tokens and proofs', 'sqlite', (engine) => {
  const server = useTestServer({ engine, world: world(), env: { RATE_LIMITS: 'on', RATE_LIMIT_FAILURES: '3/1m' } })

  const debug = (input_token: string, token = appToken) =>
    server.client.get('/debug_token', { token, query: { input_token } })
  const readAccount = (token: string, proof: string) =>
    server.client.get(`/v23.0/${ids.account}`, { token, query: { appsecret_proof: proof } })
  const refused = rateLimitReached

  async function assertRefusedUntilTheMinuteEnds(known: () => Promise<Answer>, unknown: () => Promise<Answer>) {
    assertError(await unknown(), refused)
    assertError(await server.client.get('/v23.0/me', { token: 'unknown' }), refused)
    assert.equal((await known()).status, 200)
    server.clock.advance(60_000)
    assert.equal((await unknown()).status, 200)
    server.clock.advance(60_000)
  }

  test('own tokens of apps that are wrong count, whoever asks with them', async () => {
    assert.equal((await debug(tokens.owner)).status, 200)
    for (const wrong of ['1', '2', '3']) {
      assertError(await debug(tokens.owner, `${partnerIds.application}|${wrong}`), invalidToken())
    }
    const right = () => debug(tokens.partner, partnerAppToken)
    await assertRefusedUntilTheMinuteEnds(() => debug(tokens.owner), right)
  })

  test('texts that are no token count, and so do tokens of other apps', async () => {
    const known = () => debug(tokens.unscoped)
    assert.equal((await known()).status, 200)
    for (const wrong of ['1', '2']) {
      assert.equal((await debug(`${partnerIds.application}|${wrong}`)).body.data.is_valid, false)
    }
    assertError(await debug(partnerAppToken), badArgument(inputTokenOfAnother('input_token')))
    assertError(await debug(`${partnerIds.application}|3`), refused)
    await assertRefusedUntilTheMinuteEnds(known, () => debug(tokens.managementOnly))
  })

  test('the end of a token is no guess', async () => {
    for (let time = 0; time < 4; time++) {
      assert.equal((await debug(tokens.expired)).body.data.error.subcode, 463)
    }
  })

  test('proofs that are wrong count', async () => {
    const known = () => readAccount(tokens.owner, prove(tokens.owner, secret))
    assert.equal((await known()).status, 200)
    for (const wrong of ['1', '2', '3']) {
      assertError(
        await readAccount(provingToken, prove(provingToken, wrong)),
        badArgument(proofWrong('appsecret_proof')),
      )
    }
    await assertRefusedUntilTheMinuteEnds(known, () => readAccount(provingToken, prove(provingToken, provingSecret)))
  })
})
