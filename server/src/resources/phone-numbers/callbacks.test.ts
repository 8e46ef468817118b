import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import type { ExpectedError } from '../../../test/harness/errors.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { countStatuses, numberCalls } from '../../../test/harness/number-calls.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { type Sink, type SinkRequest, startSink } from '../../../test/harness/sink.ts'
import { accounts, ids, numbers, partnerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { callbackBodyWrong, callbackTokenRefused, callbackUnreachable, urlNotHttps } from '../../egress/errors.ts'
import { appNotLinked, appNotSubscribed, usernameTaken } from './errors.ts'

const webhook = { callback_url: 'http://127.0.0.1:9/app', verify_token: 'token of the app', fields: ['messages'] }

/** The owner's app has a subscription and is linked to the private and the shared account; the partner's is linked alone. */
function worldWithSubscription() {
  const world = testWorld()
  return {
    ...world,
    apps: world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app)),
    accounts: world.accounts.map((account) =>
      account.id === accounts.shared
        ? { ...account, subscribed_apps: [ids.application, partnerIds.application] }
        : account,
    ),
  }
}

type Answer = (question: URLSearchParams, response: ServerResponse) => void

const agree: Answer = (question, response) => response.end(question.get('hub.challenge'))

function startCallback(t: TestContext, answer: Answer = agree): Promise<Sink> {
  return startSink(t, (request, response) => answer(questionOf(request), response))
}

function questionOf({ target }: SinkRequest): URLSearchParams {
  return new URL(target, 'http://sink').searchParams
}

onOneDatabase('the callbacks of a number', 'sqlite', (engine) => {
  const server = useTestServer({ engine, world: worldWithSubscription() })
  const guarded = useTestServer({
    engine,
    world: worldWithSubscription(),
    env: { ALLOW_INTERNAL_CALLBACKS: 'false' },
  })
  const { set, createWithCode } = numberCalls(server)

  async function callbacksOf(phone_number_id: string, app_id: string = ids.application) {
    const row = await server.database.read.query
      .selectFrom('phone_number_callbacks')
      .select(['override_callback_uri', 'webhook_url'])
      .where('phone_number_id', '=', phone_number_id)
      .where('app_id', '=', app_id)
      .executeTakeFirst()
    return row && { ...row }
  }

  test('the callbacks of a number: 200 for an override that answers the handshake, which asks with its own token', async (t) => {
    const sink = await startCallback(t)
    const override_callback_uri = `${sink.url}/hook?kept=1`
    const answer = await set(numbers.main, { webhook_configuration: { override_callback_uri, verify_token: 'own' } })
    assert.deepEqual([answer.status, answer.body], [200, { success: true }], answer.text)
    const [asked, ...others] = sink.requests
    assert.ok(asked && others.length === 0)
    assert.equal(asked.method, 'GET')
    const question = questionOf(asked)
    assert.deepEqual(
      [question.get('hub.mode'), question.get('hub.verify_token'), question.get('kept')],
      ['subscribe', 'own', '1'],
    )
    assert.deepEqual(await callbacksOf(numbers.main), { override_callback_uri, webhook_url: null })
  })

  test('200 for an override without a token and for webhook_url: the handshake asks with the token of the app', async (t) => {
    const sink = await startCallback(t)
    const { id } = await createWithCode()
    await linkTo(accounts.onBehalf)
    const [webhook_url, override_callback_uri] = [`${sink.url}/number`, `${sink.url}/override`]
    const answer = await set(id, { webhook_url, webhook_configuration: { override_callback_uri } })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(
      sink.requests.map((request) => [request.target.split('?')[0], questionOf(request).get('hub.verify_token')]),
      [
        ['/number', 'token of the app'],
        ['/override', 'token of the app'],
      ],
    )
    assert.deepEqual(await callbacksOf(id), { override_callback_uri, webhook_url })

    assert.equal((await set(id, { webhook_configuration: { override_callback_uri: '' } })).status, 200)
    assert.deepEqual(await callbacksOf(id), { override_callback_uri: null, webhook_url }, 'empty removes it alone')
    assert.equal(sink.requests.length, 2, 'removing asks nobody')
  })

  for (const [length, status] of [
    [200, 200],
    [201, 400],
  ] as const) {
    test(`${status} for an override of ${length} characters`, async (t) => {
      const sink = await startCallback(t)
      const override_callback_uri = `${sink.url}/`.padEnd(length, 'x')
      const answer = await set(numbers.main, { webhook_configuration: { override_callback_uri } })
      assert.equal(answer.status, status, answer.text)
      assert.equal(sink.requests.length, status === 200 ? 1 : 0)
    })
  }

  for (const [name, answer, expected] of [
    [
      'answers with another status',
      (_question, response) => response.writeHead(403).end(),
      callbackTokenRefused({ status: 403 }),
    ],
    ['sends back something else', (_question, response) => response.end('welcome'), callbackBodyWrong()],
    ['breaks off', (_question, response) => response.destroy(), callbackUnreachable],
  ] as readonly [string, Answer, ExpectedError][]) {
    test(`422 for a callback that ${name}, and nothing of the request is done`, async (t) => {
      const sink = await startCallback(t, answer)
      const before = await callbacksOf(numbers.shared)
      for (const member of [
        { webhook_url: sink.url },
        { webhook_configuration: { override_callback_uri: sink.url, verify_token: 'x' } },
      ]) {
        const refused = await set(numbers.shared, { ...member, username: 'never.set', search_visibility: 'HIDDEN' })
        assertError(refused, expected)
      }
      assert.deepEqual(await callbacksOf(numbers.shared), before)
      const { username, search_visibility } = await server.database.read.query
        .selectFrom('phone_numbers')
        .select(['username', 'search_visibility'])
        .where('id', '=', numbers.shared)
        .executeTakeFirstOrThrow()
      assert.deepEqual([username, search_visibility], [null, 'VISIBLE'])
    })
  }

  test('the callbacks of a number: 422 for another member leaves the callback as it was, although it answered', async (t) => {
    const sink = await startCallback(t)
    const before = await callbacksOf(numbers.main)
    assert.equal((await set(numbers.fresh, { username: 'held.by.fresh' })).status, 200)
    const answer = await set(numbers.main, { webhook_url: sink.url, username: 'held.by.fresh' })
    assertError(answer, usernameTaken({ username: 'held.by.fresh' }))
    assert.equal(sink.requests.length, 1)
    assert.deepEqual(await callbacksOf(numbers.main), before)
  })

  test('403 for an app that is not linked to the account, also to remove, and nobody is asked', async (t) => {
    const sink = await startCallback(t)
    for (const settings of [
      { webhook_url: sink.url },
      { webhook_configuration: { override_callback_uri: sink.url } },
      { webhook_configuration: { override_callback_uri: '' } },
    ]) {
      assertError(await set(numbers.smallBusiness, settings), appNotLinked())
    }
    assert.equal(sink.requests.length, 0)
    assert.equal(
      (await set(numbers.smallBusiness, { search_visibility: 'HIDDEN' })).status,
      200,
      'the rest needs no link',
    )
  })

  test('the callbacks of a number: 422 for an app without a subscription, and 200 to remove what it has not', async (t) => {
    const sink = await startCallback(t)
    const by = tokens.partner
    assertError(await set(numbers.shared, { webhook_url: sink.url }, by), appNotSubscribed())
    const override = { webhook_configuration: { override_callback_uri: sink.url } }
    assertError(await set(numbers.shared, override, by), appNotSubscribed())
    const removal = { webhook_configuration: { override_callback_uri: '' } }
    assert.equal((await set(numbers.shared, removal, by)).status, 200)
    assert.equal(sink.requests.length, 0)
  })

  test("one app's override is not another's", async (t) => {
    const sink = await startCallback(t)
    const removal = { webhook_configuration: { override_callback_uri: '' } }
    const override = { webhook_configuration: { override_callback_uri: `${sink.url}/owner` } }
    assert.equal((await set(numbers.shared, override)).status, 200)
    assert.equal((await set(numbers.shared, removal, tokens.partner)).status, 200)
    const own = await callbacksOf(numbers.shared)
    const partners = await callbacksOf(numbers.shared, partnerIds.application)
    assert.deepEqual([own?.override_callback_uri, partners?.override_callback_uri], [`${sink.url}/owner`, null])
  })

  test('403 when the app is unlinked while the callback is being asked', async (t) => {
    const { id } = await createWithCode()
    await linkTo(accounts.onBehalf)
    const sink = await startCallback(t, (question, response) => {
      server.database
        .transaction((tx) =>
          tx.query.deleteFrom('subscribed_apps').where('account_id', '=', accounts.onBehalf).execute(),
        )
        .then(
          () => agree(question, response),
          (error: Error) => response.destroy(error),
        )
    })
    assertError(await set(id, { webhook_url: sink.url }), appNotLinked())
    assert.equal(sink.requests.length, 1)
    assert.equal(await callbacksOf(id), undefined)
  })

  test('the last of several overrides at once is the one', async (t) => {
    const sink = await startCallback(t)
    const uris = Array.from({ length: 6 }, (_, index) => `${sink.url}/${index}`)
    const answers = await Promise.all(
      uris.map((override_callback_uri) => set(numbers.fresh, { webhook_configuration: { override_callback_uri } })),
    )
    assert.deepEqual(countStatuses(answers), { 200: 6 })
    assert.ok(uris.includes((await callbacksOf(numbers.fresh))?.override_callback_uri ?? ''))
  })

  for (const settings of [
    { webhook_url: 'http://127.0.0.1:9/hook' },
    { webhook_configuration: { override_callback_uri: 'http://127.0.0.1:9/hook' } },
  ]) {
    test(`400 for ${JSON.stringify(settings)} where internal callbacks are not allowed`, async () => {
      assertError(await numberCalls(guarded).set(numbers.main, settings), urlNotHttps)
    })
  }

  /** As POST /{Account-ID}/subscribed_apps would. */
  async function linkTo(account_id: string): Promise<void> {
    await server.database.transaction((tx) =>
      tx.query
        .insertInto('subscribed_apps')
        .values({
          account_id,
          app_id: ids.application,
          override_callback_uri: null,
          verify_token: null,
          created_time: server.clock.now(),
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    )
  }
})
