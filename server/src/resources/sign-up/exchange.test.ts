import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { pino } from 'pino'
import type { Answer } from '../../../test/harness/client.ts'
import { onBothDatabases, onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, type ExpectedError, like } from '../../../test/harness/errors.ts'
import { isSomebodyWaiting } from '../../../test/harness/lock-waits.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { connectAccount, partnerSecret, redirectUri } from '../../../test/harness/sign-up.ts'
import { until } from '../../../test/harness/until.ts'
import { accounts, ids, partnerIds, strangerIds, tokens } from '../../../test/harness/world.ts'
import { hashToken } from '../../auth/tokens.ts'
import { systemRandom } from '../../base/keys/random.ts'
import type { Log } from '../../base/log/log.ts'
import type { Transaction } from '../../db/database.ts'
import { rotateSecretForOperators } from '../../delivery/store/signing-secrets.ts'
import type { OpenContext } from '../../graph/context.ts'
import { argumentMissing, invalidToken, notFound } from '../../graph/errors.ts'
import { bodyTooLarge } from '../../http/errors.ts'
import { rateLimitReached } from '../../limits/errors.ts'
import { applyWorld } from '../../world/apply.ts'
import { readWorld } from '../../world/read.ts'
import { Attempts } from './attempts.ts'
import { endConnection, hashCode, lockAccount } from './connections.ts'
import { exchangeCode } from './exchange.ts'
import {
  clientSecretWrong,
  codeUsedOrOld,
  neededForGrant,
  redirectDiffers,
  tokenNotExchanged,
  verifierWrong,
} from './exchange-errors.ts'

type Given = Record<string, string | undefined>

const partner = { client_id: partnerIds.application, client_secret: partnerSecret }
const stranger = { client_id: strangerIds.application, client_secret: 'stranger-secret' }
const path = '/v23.0/oauth/access_token'
const tokenPattern = /^sb_[\w-]{43}$/

function leaveOut(given: Given): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Record<string, string>
}

onBothDatabases('the exchange of a code', (engine) => {
  const server = useTestServer({ engine })
  let code = ''
  let connection_id = ''

  beforeEach(async () => {
    ;({ code, connection_id } = await connectAccount(server))
  })

  const exchange = (given: Given = {}) => server.client.post(path, { form: leaveOut({ ...partner, code, ...given }) })
  const readAccount = (token: string, id: string = ids.account) => server.client.get(`/v23.0/${id}`, { token })

  const countTokens = async () =>
    (
      await server.database.read.query
        .selectFrom('tokens')
        .select('id')
        .where('user_id', '=', ids.business_user)
        .execute()
    ).length

  async function assertWorks(given: Given = {}): Promise<string> {
    const answer = await exchange(given)
    assert.equal(answer.status, 200, answer.text)
    server.client.checkOutput(server.client.row('sign_up.exchange'), answer.body)
    assert.equal((await readAccount(answer.body.access_token)).status, 200)
    return answer.body.access_token
  }

  test('it gives a token of the app for that account alone, of the person, without an end', async () => {
    const { body } = await exchange({ redirect_uri: redirectUri })
    assert.deepEqual(Object.keys(body), ['access_token', 'token_type'])
    assert.match(body.access_token, tokenPattern)
    assert.equal(body.token_type, 'bearer')
    assert.equal((await readAccount(body.access_token)).status, 200)
    assertError(await readAccount(body.access_token, accounts.shared), notFound())
    assertError(await readAccount(body.access_token, strangerIds.account), notFound())
    const token = await server.database.read.query
      .selectFrom('tokens')
      .selectAll()
      .where('connection_id', '=', connection_id)
      .orderBy('created_time', 'desc')
      .executeTakeFirstOrThrow()
    assert.deepEqual(
      [token.app_id, token.scopes, token.accounts, token.user_id, token.expires_time],
      [
        partnerIds.application,
        ['msgapp_business_management', 'msgapp_business_messaging'],
        [ids.account],
        ids.business_user,
        null,
      ],
    )
    const query = { operation: 'sign_up.exchange', limit: '1' }
    const audit = await server.client.get('/operator/audit', { token: tokens.operator, query })
    const [{ actor_app_id, actor_token_id, node_id }] = audit.body.data
    assert.deepEqual([actor_app_id, actor_token_id, node_id], [partnerIds.application, token.id, ids.account])
  })

  const ways: readonly (readonly [string, () => Promise<Answer>])[] = [
    ['GET', () => server.client.get(path, { query: { ...partner, code } })],
    ['GET without a version', () => server.client.get('/oauth/access_token', { query: { ...partner, code } })],
    ['POST with everything in the query', () => server.client.post(path, { query: { ...partner, code } })],
    ['POST of JSON', () => server.client.post('/oauth/access_token', { json: { ...partner, code } })],
    ['POST of a multipart form', () => server.client.post(path, { multipart: { ...partner, code } })],
  ]
  for (const [name, send] of ways) {
    test(`by ${name}`, async () => {
      const answer = await send()
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.headers.get('cache-control'), 'private, no-store')
      assert.equal((await readAccount(answer.body.access_token)).status, 200)
    })
  }

  test('whoever asks for the headers alone uses nothing up', async () => {
    const asked = await server.client.call('HEAD', `${path}?${new URLSearchParams({ ...partner, code })}`)
    assert.equal(asked.status, 404)
    await assertWorks()
  })

  test('a code that comes again ends the token that was given for it, and no other', async () => {
    const other = await assertWorks({ code: (await connectAccount(server)).code })
    const token = await assertWorks()
    assertError(await exchange(), codeUsedOrOld())
    assertError(await readAccount(token), invalidToken())
    assert.equal((await readAccount(other)).status, 200)
    assertError(await exchange(), codeUsedOrOld())
  })

  test('of many requests at once one gets the token', async () => {
    const before = await countTokens()
    const answers = await Promise.all(Array.from({ length: 6 }, () => exchange()))
    const won = answers.filter(({ status }) => status === 200)
    assert.equal(won.length, 1)
    for (const answer of answers) if (answer.status !== 200) assertError(answer, codeUsedOrOld())
    assert.equal(await countTokens(), before + 1)
  })

  test('whoever loses the race ends nothing, whether it looked at the code before it was used or after', async () => {
    const { database, clock } = server
    const attempts = new Attempts()
    const looked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    const isWon = Promise.withResolvers<void>()
    const hashed = hashCode(database.read, code)
    const app = { id: partnerIds.application, business_id: partnerIds.business }
    const start = (before: Promise<unknown>, beforeWrite: () => Promise<unknown>) =>
      attempts.run(hashed, clock.now(), async (attempt) => {
        await before
        const transaction = async <T>(work: (tx: Transaction) => Promise<T>) => {
          await beforeWrite()
          return database.transaction(work)
        }
        const context = {
          db: database.read,
          clock,
          random: systemRandom,
          remote_address: '',
          trace: '',
          ports: { transaction },
        }
        return exchangeCode(context as unknown as OpenContext, attempt, app, { code })
      })
    const winner = start(Promise.resolve(), () => {
      looked[0].resolve()
      return looked[1].promise
    })
    const refusedInWrite = start(looked[0].promise, () => {
      looked[1].resolve()
      return isWon.promise
    })
    const refusedAtLook = start(isWon.promise, () => Promise.resolve())
    const losers = Promise.allSettled([refusedInWrite, refusedAtLook])
    const token = await winner
    isWon.resolve()
    for (const loser of await losers) {
      assert.ok(loser.status === 'rejected' && loser.reason.definition.id === codeUsedOrOld.id)
    }
    assert.equal((await readAccount(token)).status, 200)
    assertError(await exchange(), codeUsedOrOld())
    assertError(await readAccount(token), invalidToken())
  })

  test('what a token was exchanged for ends with it', async () => {
    const token = await assertWorks()
    const longer = await exchange({ code: undefined, grant_type: 'fb_exchange_token', fb_exchange_token: token })
    assert.equal((await readAccount(longer.body.access_token)).status, 200)
    assertError(await exchange(), codeUsedOrOld())
    for (const one of [token, longer.body.access_token]) assertError(await readAccount(one), invalidToken())
  })

  test('a token that ends while it is exchanged leaves none that works', async () => {
    const token = await assertWorks()
    const renew = () => exchange({ code: undefined, grant_type: 'fb_exchange_token', fb_exchange_token: token })
    const before = [renew(), renew(), renew()]
    const ended = exchange()
    const answers = await Promise.all([...before, renew(), renew(), renew()])
    assertError(await ended, codeUsedOrOld())
    for (const answer of answers) {
      if (answer.status === 200) assertError(await readAccount(answer.body.access_token), invalidToken())
      else assertError(answer, tokenNotExchanged())
    }
    assertError(await readAccount(token), invalidToken())
  })

  test('codes of other apps, made up ones and expired ones are all the same error, and end nothing', async () => {
    assertError(await exchange(stranger), codeUsedOrOld())
    assertError(await exchange({ code: 'x'.repeat(43) }), codeUsedOrOld())
    const token = await assertWorks()
    assertError(await exchange(stranger), codeUsedOrOld())
    assert.equal((await readAccount(token)).status, 200, 'another app cannot end it')
    const late = (await connectAccount(server)).code
    server.clock.advance(600_000)
    assertError(await exchange({ code: late }), codeUsedOrOld())
  })

  test('another redirect_uri is refused, and the code stays', async () => {
    for (const redirect_uri of [`${redirectUri}/`, 'https://partner.example/CONNECTED', '']) {
      assertError(await exchange({ redirect_uri }), redirectDiffers())
    }
    await assertWorks({ redirect_uri: redirectUri })
  })

  test('a challenge needs its verifier, a verifier needs a challenge, and the code stays', async () => {
    assertError(await exchange({ code_verifier: 'v'.repeat(43) }), verifierWrong())
    await assertWorks()
    for (const length of [43, 128]) {
      const code_verifier = 'a-Z_0.~9'.repeat(20).slice(0, length)
      const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
      const proven = await connectAccount(server, { code_challenge })
      const wrong = [undefined, '', code_challenge, `${code_verifier.slice(0, -1)}!`, code_verifier.slice(0, 42)]
      for (const tried of [...wrong, `${code_verifier}x`]) {
        assertError(await exchange({ code: proven.code, code_verifier: tried }), verifierWrong())
      }
      await assertWorks({ code: proven.code, code_verifier })
    }
  })

  test('a verifier beyond the limits proves nothing, though its hash fits', async () => {
    for (const code_verifier of ['v'.repeat(42), 'v'.repeat(129), `${'v'.repeat(43)} `]) {
      const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
      const { code: proven } = await connectAccount(server, { code_challenge })
      assertError(await exchange({ code: proven, code_verifier }), verifierWrong())
    }
  })

  test('a wrong secret and an unknown app are the same error, and the code stays', async () => {
    const wrong = [
      { client_secret: 'partner-app-secreT' },
      { client_secret: '' },
      { client_secret: 'stranger-secret' },
      { client_id: strangerIds.application },
      { client_id: '3999999999999999' },
      { client_id: ids.account },
      { client_id: '' },
    ]
    const answers: string[] = []
    for (const given of wrong) {
      const answer = await exchange(given)
      assertError(answer, clientSecretWrong())
      answers.push(JSON.stringify({ ...answer.body.error, svctrace_id: '' }))
    }
    assert.equal(new Set(answers).size, 1)
    await assertWorks()
  })

  test('after the connection has ended its codes and tokens are worth nothing', async () => {
    const token = await assertWorks()
    const waiting = await connectAccount(server)
    await server.database.transaction(async (tx) => {
      const tools = { clock: server.clock, random: systemRandom }
      assert.equal(await endConnection(tx, tools, { id: connection_id, account_id: ids.account }), true)
      assert.equal(await endConnection(tx, tools, { id: connection_id, account_id: ids.account }), false)
    })
    assertError(await readAccount(token), invalidToken())
    assertError(await exchange({ code: waiting.code }), codeUsedOrOld())
    assertError(await exchange(), codeUsedOrOld())
    assertError(await server.client.get(`/v23.0/${ids.account}`, { token: tokens.partner }), notFound())
  })

  test('a scope that was taken back since the consent is not given', async () => {
    await server.database.transaction((tx) =>
      tx.query
        .updateTable('connections')
        .set({ scopes: ['msgapp_business_management'] })
        .where('id', '=', connection_id)
        .execute(),
    )
    const token = await assertWorks()
    const asked = await server.client.post(`/v23.0/${ids.phone_number}/messages`, { token, json: {} })
    assert.equal(asked.status, 403)
  })

  test('the secret alone gives the app token', async () => {
    const grant_type = 'client_credentials'
    const { body } = await exchange({ grant_type, code: undefined })
    assert.deepEqual(body, { access_token: `${partnerIds.application}|${partnerSecret}`, token_type: 'bearer' })
    const own = `/v23.0/${partnerIds.business}`
    assert.equal((await server.client.get(own, { token: body.access_token })).status, 200)
    const subscriptions = `/v23.0/${partnerIds.application}/subscriptions`
    assert.equal((await server.client.get(subscriptions, { token: body.access_token })).status, 200)
  })

  test('the secret before works while the overlap of a rotation lasts', async () => {
    const { clock, database } = server
    const app = {
      id: '3000000000000007',
      business_id: partnerIds.business,
      name: 'Rotated',
      secret: 'the-secret-before',
    }
    await applyWorld(database, clock, systemRandom, readWorld(JSON.stringify({ apps: [app] }), 'test world'))
    const ask = (client_secret: string) =>
      exchange({ client_id: app.id, client_secret, grant_type: 'client_credentials', code: undefined })
    const rotation = { app_id: app.id, overlap: 60_000 }
    const secret = await database.transaction((tx) => rotateSecretForOperators(tx, clock, systemRandom, rotation))
    for (const one of [app.secret, String(secret)]) {
      assert.equal((await ask(one)).body.access_token, `${app.id}|${one}`)
    }
    clock.advance(60_000)
    assertError(await ask(app.secret), clientSecretWrong())
    assert.equal((await ask(String(secret))).status, 200)
  })

  test('a token is exchanged for one with the same grant that ends, and ends with its connection', async () => {
    const token = await assertWorks()
    const grant_type = 'fb_exchange_token'
    const given = { grant_type, code: undefined }
    const { body } = await exchange({ ...given, fb_exchange_token: token })
    assert.deepEqual([body.token_type, body.expires_in], ['bearer', 60 * 86_400])
    assert.equal((await readAccount(body.access_token)).status, 200)
    assert.equal((await readAccount(token)).status, 200)
    assertError(await readAccount(body.access_token, accounts.shared), notFound())
    for (const wrong of [
      'made up',
      tokens.stranger,
      tokens.operator,
      tokens.gateway,
      `${partner.client_id}|${partner.client_secret}`,
    ]) {
      assertError(await exchange({ ...given, fb_exchange_token: wrong }), tokenNotExchanged())
    }
    const owner = { client_id: ids.application, client_secret: 'shrub-app-secret' }
    for (const wrong of [tokens.operator, tokens.gateway, tokens.expired, token]) {
      assertError(await exchange({ ...given, ...owner, fb_exchange_token: wrong }), tokenNotExchanged())
    }
    const tools = { clock: server.clock, random: systemRandom }
    await server.database.transaction((tx) => endConnection(tx, tools, { id: connection_id, account_id: ids.account }))
    assertError(await readAccount(body.access_token), invalidToken())
    assertError(await exchange({ ...given, fb_exchange_token: body.access_token }), tokenNotExchanged())
  })

  test('a token that was exchanged does not outlive the end that somebody set for the first one', async () => {
    const { clock, database } = server
    const write = (time: number) => new Date(time).toISOString()
    const token = `token-that-ends-${engine}`
    const apply = async (expires_at: string) => {
      const file = { tokens: [{ token, app_id: partnerIds.application, expires_at }] }
      await applyWorld(database, clock, systemRandom, readWorld(JSON.stringify(file), 'test world'))
    }
    const renew = async (fb_exchange_token: string) => {
      const { status, body, text } = await exchange({
        grant_type: 'fb_exchange_token',
        code: undefined,
        fb_exchange_token,
      })
      assert.equal(status, 200, text)
      return body as { access_token: string; expires_in: number }
    }
    const own = (one: string) => server.client.get(`/v23.0/${partnerIds.business}`, { token: one })
    await apply(write(clock.now() + 3_600_000))
    const renewed = await renew(token)
    assert.equal(renewed.expires_in, 3600)
    const again = await renew(renewed.access_token)
    assert.equal(again.expires_in, 3600)
    assert.equal((await own(again.access_token)).status, 200)
    // Shortened afterwards: what it was exchanged for is shortened with it, and grows no longer.
    await apply(write(clock.now() + 60_000))
    clock.advance(59_999)
    assert.equal((await own(again.access_token)).status, 200)
    clock.advance(1)
    for (const one of [token, renewed.access_token, again.access_token]) assertError(await own(one), invalidToken())
    await apply(write(clock.now() + 60_000))
    const { access_token } = await renew(token)
    assert.equal((await own(access_token)).status, 200)
    assertError(await own(again.access_token), invalidToken())
    // One that outlived it, as of the release before, is worth no other.
    await apply(write(clock.now() + 60_000))
    const { access_token: later } = await renew(token)
    await database.transaction((tx) =>
      tx.query
        .updateTable('tokens')
        .set({ expires_time: clock.now() + 120_000 })
        .where('hash', '=', hashToken(tx, later))
        .execute(),
    )
    clock.advance(60_000)
    assertError(
      await exchange({ grant_type: 'fb_exchange_token', code: undefined, fb_exchange_token: later }),
      tokenNotExchanged(),
    )
    const endless = await assertWorks()
    const first = await renew(endless)
    clock.advance(86_400_000)
    assert.equal((await renew(first.access_token)).expires_in, 60 * 86_400, 'of one without an end each lives as long')
  })

  test('what was taken from a token is not given by one that it was exchanged for', async () => {
    const { clock, database } = server
    const token = `token-that-is-narrowed-${engine}`
    const scopes = ['msgapp_business_management', 'msgapp_business_messaging']
    const apply = async (members: object) => {
      const file = { tokens: [{ token, app_id: partnerIds.application, ...members }] }
      await applyWorld(database, clock, systemRandom, readWorld(JSON.stringify(file), 'test world'))
    }
    const renew = (one: string) =>
      exchange({ grant_type: 'fb_exchange_token', code: undefined, fb_exchange_token: one })
    const grantOf = async (one: string) => {
      const query = database.read.query.selectFrom('tokens').select(['scopes', 'accounts', 'revoked_time'])
      const found = await query.where('hash', '=', hashToken(database.read, one)).executeTakeFirstOrThrow()
      return [found.scopes, found.accounts, found.revoked_time !== null]
    }
    await apply({ scopes, accounts: [accounts.shared, strangerIds.account] })
    const wide = (await renew(token)).body.access_token
    assert.deepEqual(await grantOf(wide), [scopes, [accounts.shared, strangerIds.account], false])
    const own = await server.client.delete(`/v23.0/me/permissions/${scopes[1]}`, { token: wide })
    assert.equal(own.status, 200)
    // An unchanged file changes nothing.
    await apply({ scopes, accounts: [accounts.shared, strangerIds.account] })
    assert.deepEqual(await grantOf(wide), [[scopes[0]], [accounts.shared, strangerIds.account], false])
    const other = (await renew(token)).body.access_token
    await apply({ scopes, accounts: [accounts.shared] })
    assert.deepEqual(await grantOf(wide), [[scopes[0]], [accounts.shared], false])
    assert.deepEqual(await grantOf(other), [scopes, [accounts.shared], false])
    await apply({ scopes: [scopes[1] as string] })
    assert.deepEqual(await grantOf(wide), [[scopes[0]], [accounts.shared], true], 'nothing is left of it')
    const { body } = await renew(other)
    assert.deepEqual(await grantOf(body.access_token), [[scopes[1]], [accounts.shared], false])
    assertError(await renew(wide), tokenNotExchanged())
  })

  test('a permission that is taken back while a token is exchanged is not given', async () => {
    const { database } = server
    const token = await assertWorks()
    let exchanging: Promise<Answer> | undefined
    await database.transaction(async (tx) => {
      const left = { scopes: ['msgapp_business_management'] }
      tx.lock(lockAccount, { account_id: ids.account })
      await tx.query.updateTable('connections').set(left).where('id', '=', connection_id).execute()
      await tx.query.updateTable('tokens').set(left).where('connection_id', '=', connection_id).execute()
      exchanging = exchange({ grant_type: 'fb_exchange_token', code: undefined, fb_exchange_token: token })
      if (engine === 'postgres') await until(() => isSomebodyWaiting(database), 'the exchange waits for the account')
    })
    const { access_token } = (await exchanging)?.body ?? {}
    const found = await database.read.query
      .selectFrom('tokens')
      .select('scopes')
      .where('hash', '=', hashToken(database.read, access_token))
      .executeTakeFirstOrThrow()
    assert.deepEqual(found.scopes, ['msgapp_business_management'])
  })

  test('what is missing, of another form or too large is 400', async () => {
    const cases: readonly (readonly [Given, ExpectedError])[] = [
      [{ client_id: undefined }, like(argumentMissing, { argument: 'client_id' })],
      [{ client_secret: undefined }, like(argumentMissing, { argument: 'client_secret' })],
      [{ code: undefined }, neededForGrant('code')],
      [{ code: '' }, neededForGrant('code')],
      [{ grant_type: 'fb_exchange_token' }, neededForGrant('fb_exchange_token')],
    ]
    for (const [given, expected] of cases) assertError(await exchange(given), expected)
    assert.equal((await exchange({ grant_type: 'password' })).status, 400)
    assert.equal((await exchange({ code: 'a\u0000b' })).status, 400)
    assert.equal((await server.client.get(`${path}?client_id=1&client_id=2&client_secret=x`)).status, 400)
    assertError(await exchange({ state: 'x'.repeat(65_536) }), bodyTooLarge({ max: 65_536 }))
    await assertWorks()
  })
})

onOneDatabase('guesses of secrets', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { RATE_LIMITS: 'on', RATE_LIMIT_FAILURES: '3/1m' } })
  const ask = (given: Given) =>
    server.client.post('/oauth/access_token', { form: leaveOut({ grant_type: 'client_credentials', ...given }) })

  test('an address that guesses is refused, unless its secret was right a moment ago', async () => {
    const known = { client_id: strangerIds.application, client_secret: 'stranger-secret' }
    assert.equal((await ask(known)).status, 200)
    for (const client_secret of ['1', '2', '3']) {
      assertError(await ask({ client_id: partnerIds.application, client_secret }), clientSecretWrong())
    }
    const right = { client_id: partnerIds.application, client_secret: 'partner-app-secret' }
    assertError(await ask(right), rateLimitReached)
    assertError(await server.client.get(`/v23.0/${ids.account}`, { token: 'unknown' }), rateLimitReached)
    assert.equal((await ask(known)).status, 200)
    server.clock.advance(60_000)
    assert.equal((await ask(right)).status, 200)
  })

  test('whoever has the secret of an app guesses no tokens of it, and one that was exchanged a moment ago still is', async () => {
    server.clock.advance(60_000)
    const renew = (fb_exchange_token: string) => ask({ ...partner, grant_type: 'fb_exchange_token', fb_exchange_token })
    assert.equal((await renew(tokens.partner)).status, 200)
    for (const guess of ['1', '2', '3']) assertError(await renew(guess), tokenNotExchanged())
    assertError(await renew('4'), rateLimitReached)
    assertError(await server.client.get(`/v23.0/${ids.account}`, { token: 'unknown' }), rateLimitReached)
    assert.equal((await renew(tokens.partner)).status, 200)
  })
})

onOneDatabase('secrets of an exchange', 'sqlite', (engine) => {
  const lines: string[] = []
  const write = (line: string) => lines.push(line)
  const log: Log = Object.assign(pino({ level: 'trace' }, { write }), { line: write, isPretty: true })
  const server = useTestServer({ engine, log, env: { VOCABULARY: 'whatsapp', REQUEST_LOG: '100' } })

  test('they are in no log, no kept request and no trace, and the token is that of the vocabulary', async () => {
    const verifier = 'the-verifier-of-a-sign-up-of-a-business-0123'
    const code_challenge = createHash('sha256').update(verifier).digest('base64url')
    const { code } = await connectAccount(server, { code_challenge })
    const query = { ...partner, code, code_verifier: verifier }
    const first = await server.client.get('/oauth/access_token', { query })
    assert.equal(first.status, 200, first.text)
    const token = first.body.access_token
    const proof = 'b'.repeat(64)
    const fb_exchange_token = token
    const second = await server.client.post('/v23.0/oauth/access_token', {
      form: { ...partner, grant_type: 'fb_exchange_token', fb_exchange_token },
    })
    assert.equal(second.status, 200, second.text)
    const debugged = await server.client.get('/debug_token', {
      query: { input_token: token, access_token: `${partner.client_id}|${partner.client_secret}` },
    })
    assert.equal(debugged.status, 200, debugged.text)
    assert.deepEqual(debugged.body.data.scopes, ['whatsapp_business_management', 'whatsapp_business_messaging'])
    await server.client.get(`/${ids.account}`, { query: { access_token: token, appsecret_proof: proof } })
    const wrong = await server.client.get('/oauth/access_token', {
      query: { ...query, client_secret: 'wrong-secret-here' },
    })
    assert.equal(wrong.body.error.code, 1)
    const kept = await server.client.get('/operator/requests', { token: tokens.operator, query: { limit: '50' } })
    assert.ok(kept.text.includes('/oauth/access_token') && kept.text.includes('client_id'))
    const trace = String(first.headers.get('x-fbtrace-id'))
    const shown = await server.client.get(`/operator/traces/${trace}`, { token: tokens.operator })
    assert.equal(shown.status, 200)
    assert.ok(lines.some((line) => line.includes(trace)))
    const everything = [...lines, kept.text, shown.text, wrong.text].join('\n')
    const renewed = second.body.access_token
    for (const secret of [partnerSecret, 'wrong-secret-here', code, verifier, token, renewed, proof]) {
      assert.ok(!everything.includes(secret), secret)
    }
  })
})
