import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callSides } from '../../../../test/harness/calls.ts'
import type { Answer } from '../../../../test/harness/client.ts'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { messageSides } from '../../../../test/harness/messages.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { hang, ownersApp, refuseWith, subscribe, takeIt } from '../../../../test/harness/subscriber.ts'
import { envelopeOf, handIn, messagesChange, metadata, textMessage } from '../../../../test/harness/webhooks.ts'
import { accounts, ids, numbers, strangerIds, testWorld, tokens } from '../../../../test/harness/world.ts'
import { notFound } from '../../../graph/errors.ts'

interface Subscriber {
  readonly app_name: string
  readonly callback_url: string | null
  readonly state: string
  readonly sentence: string
  readonly delivery_id: string | null
}

const apps = {
  good: ownersApp,
  bad: { id: '3000000000000011', token: 'token-of-the-bad-app' },
  slow: { id: '3000000000000012', token: 'token-of-the-slow-app' },
  idle: { id: '3000000000000013', token: 'token-of-the-idle-app' },
} as const

/** The owner has four apps, all of them linked to the account. */
function worldOfApps() {
  const world = testWorld()
  const further = Object.entries(apps).filter(([, app]) => app !== ownersApp)
  return {
    ...world,
    apps: [
      ...world.apps,
      ...further.map(([name, { id }]) => ({ id, name, business_id: ids.business, secret: `secret-of-${name}` })),
    ],
    tokens: [
      ...world.tokens,
      ...further.map(([, { id, token }]) => ({ token, app_id: id, scopes: ['msgapp_business_management'] })),
    ],
    accounts: world.accounts.map((account) =>
      account.id === ids.account ? { ...account, subscribed_apps: Object.values(apps).map(({ id }) => id) } : account,
    ),
  }
}

onOneDatabase('what became of something', 'sqlite', (engine) => {
  const server = useTestServer({ engine, world: worldOfApps(), env: { WEBHOOK_RETRY_DELAYS: '10s,1h' } })
  const phone = messageSides(server)
  const get = (path: string, query: Record<string, string> = {}, token: string = tokens.operator) =>
    server.client.get(`/operator/${path}`, { token, query })
  const why = async (id: string, token: string = tokens.operator) => {
    const row = server.client.row('operator.why')
    return server.client.callRow(row, `/operator/why/${encodeURIComponent(id)}`, { token })
  }
  const explain = async (id: string) => {
    const answer = await why(id)
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }
  const bySubscriber = (subscribers: readonly Subscriber[]) =>
    Object.fromEntries(subscribers.map((one) => [one.app_name, one]))
  const traceOf = ({ headers }: Answer) => headers.get('x-svctrace-id') ?? ''
  const laneOf = async (app_id: string) => (await get('lanes', { app_id, waiting: 'true' })).body.data[0].id
  const act = (lane: string, action: string) =>
    server.client.post(`/operator/lanes/${lane}`, { token: tokens.operator, json: { action } })

  test('a message that was delivered, at a good, a failing and a paused subscriber: each with its own line', async (t) => {
    const good = await subscribe(t, server)
    const bad = await subscribe(t, server, { app: apps.bad })
    const slow = await subscribe(t, server, { app: apps.slow })
    for (const one of [bad, slow]) one.answerWith(refuseWith(500))
    const user = phone.newUser()
    const incoming = await phone.write(user)
    await server.app.settle()
    await act(await laneOf(apps.slow.id), 'pause')
    bad.answerWith(takeIt)
    server.clock.advance(20_000)
    await server.app.settle()
    bad.answerWith(refuseWith(503))
    const sent = await phone.post({ to: user, text: { body: 'Hello' } })
    await server.app.settle()
    const id = sent.body.messages[0].id

    const { kind, trace, sentence, subscribers, ...rest } = await explain(id)
    assert.deepEqual([kind, trace, rest.id], ['message', traceOf(sent), id])
    assert.equal(sentence, "Delivered to the user's phone, 0 ms after it was sent. The user has not read it yet.")
    const { 'Shrub CRM': first, bad: second, slow: third, idle } = bySubscriber(subscribers)
    assert.deepEqual([first?.state, first?.callback_url], ['delivered', good.url])
    assert.equal(first?.sentence, 'All 2 webhooks were delivered at the first attempt, the slowest after 0 ms.')
    assert.deepEqual([second?.state, second?.callback_url], ['failing', bad.url])
    assert.match(
      second?.sentence ?? '',
      /^Failing: attempt 1 failed \(it answered 503\)\. The next attempt is in 1\d s, at [^.]+ UTC\. 0 of 2 webhooks delivered; this is status sent to \+\d+\.$/,
    )
    assert.deepEqual([third?.state, third?.callback_url], ['paused', slow.url])
    assert.match(
      third?.sentence ?? '',
      /^Waiting: an operator paused this subscriber until it is resumed\. \d of \d webhooks delivered\.$/,
    )
    assert.deepEqual([idle?.state, idle?.delivery_id], ['not_subscribed', null])
    assert.deepEqual(
      [subscribers.length, new Set(subscribers.map(({ delivery_id }: Subscriber) => delivery_id)).size],
      [4, 4],
    )

    // What the trace and the request set off is the same.
    const [request] = (await get('requests', { trace })).body.data
    for (const [of, id_] of [
      ['trace', trace],
      ['request', request.id],
    ]) {
      assert.deepEqual(await explain(id_), { kind: of, id: id_, trace, sentence, subscribers })
    }

    // The status after the one that is refused waits for it.
    const { data } = (await get('deliveries', { app_id: apps.bad.id, state: 'waiting' })).body
    const behind = await explain(data[0].id)
    assert.deepEqual([behind.kind, behind.trace, behind.subscribers.length], ['delivery', trace, 1])
    assert.deepEqual([behind.subscribers[0].state, behind.subscribers[0].delivery_id], ['waiting', data[0].id])
    const blocked = `Waiting for its first attempt: an earlier webhook of its conversation is being refused. Webhook ${second?.delivery_id} comes first: its attempt 1 failed (it answered 503).`
    assert.ok(behind.subscribers[0].sentence.startsWith(blocked), behind.subscribers[0].sentence)
    assert.ok(behind.sentence.endsWith(`It is about message ${id}. ${sentence}`), behind.sentence)

    // The message of the user arrived everywhere but at the paused one.
    const received = await explain(incoming)
    assert.equal(received.sentence, 'Received from the user. The business has not marked it as read.')
    const states = received.subscribers.map(({ app_name, state }: Subscriber) => [app_name, state])
    assert.deepEqual(Object.fromEntries(states), {
      'Shrub CRM': 'delivered',
      bad: 'delivered',
      slow: 'paused',
      idle: 'not_subscribed',
    })
    assert.equal(bySubscriber(received.subscribers)['bad']?.sentence, 'Delivered at attempt 2, 20 s after the event.')

    // After three failures the subscriber counts as down.
    for (let index = 0; index < 3; index++) await phone.write(phone.newUser())
    await server.app.settle()
    const last = await phone.write(phone.newUser())
    await server.app.settle()
    const down = bySubscriber((await explain(last)).subscribers)
    assert.deepEqual([down['bad']?.state, down['Shrub CRM']?.state], ['down', 'delivered'])
    assert.match(down['bad']?.sentence ?? '', /the subscriber is down: it took no webhook since /)

    await act(await laneOf(apps.slow.id), 'resume')
    for (const one of [bad, slow]) one.answerWith(takeIt)
    server.clock.advance(3_700_000)
    await server.app.settle()
    const after = bySubscriber((await explain(id)).subscribers)
    for (const name of ['Shrub CRM', 'bad', 'slow']) assert.equal(after[name]?.state, 'delivered', name)
    assert.match(
      after['bad']?.sentence ?? '',
      /^All 2 webhooks were delivered; webhook \d+ \(status sent to \+\d+\) took \d attempts and /,
    )
  })

  test('a message that failed is a failure, although its webhook was delivered', async (t) => {
    await subscribe(t, server)
    const sent = await phone.post({ to: phone.newUser(), text: { body: 'Hello' } })
    await server.app.settle()
    const id = sent.body.messages[0].id
    const { trace, sentence, subscribers } = await explain(id)
    assert.equal(
      sentence,
      'Failed: 131047, the user has not written within the service window; send a template instead.',
    )
    assert.equal(bySubscriber(subscribers)['Shrub CRM']?.state, 'delivered')
    assert.equal((await explain(trace)).sentence, sentence)
    const { delivery_id } = bySubscriber(subscribers)['Shrub CRM'] as Subscriber
    assert.match(
      (await explain(delivery_id ?? '')).sentence,
      /^Delivered .* It is about message wamid\.\S+ Failed: 131047/,
    )
  })

  test('a message waits for a phone that is offline', async () => {
    const user = phone.newUser()
    await phone.write(user)
    await server.client.post(`/gateway/users/${user}`, { token: tokens.gateway, json: { presence: 'offline' } })
    const { sentence } = await explain(await phone.send(user))
    assert.match(
      sentence,
      /^Sent, not delivered yet: it waits for the user's phone, which is offline\. It is dropped at /,
    )
  })

  test('several messages in one event, and messages of two tenants with one id', async (t) => {
    await subscribe(t, server)
    const user = phone.newUser()
    await handIn(
      server,
      envelopeOf([messagesChange(textMessage('both.1', 'a', user), textMessage('both.2', 'b', user))]),
    )
    await server.app.settle()
    const [one, other] = [await explain('both.1'), await explain('both.2')]
    assert.equal(bySubscriber(one.subscribers)['Shrub CRM']?.state, 'delivered')
    assert.deepEqual(other, { ...one, id: 'both.2' })

    const value = {
      ...messagesChange(textMessage('both.1')).value,
      metadata: { ...metadata, phone_number_id: strangerIds.phone_number },
    }
    await handIn(server, envelopeOf([{ field: 'messages', value }], strangerIds.account))
    assert.equal((await explain('both.1')).trace, one.trace)
    const theirs = await why('both.1', tokens.limitedOperator)
    assert.equal(theirs.status, 200, theirs.text)
    assert.notEqual(theirs.body.trace, one.trace)
    assert.ok(!theirs.text.includes('Shrub CRM'))
  })

  test('an account without a linked app, and a request that was refused or raised nothing', async () => {
    const value = {
      ...messagesChange(textMessage('alone.1')).value,
      metadata: { ...metadata, phone_number_id: numbers.shared },
    }
    await handIn(server, envelopeOf([{ field: 'messages', value }], accounts.shared))
    const alone = await explain('alone.1')
    assert.deepEqual(alone.subscribers, [])
    assert.match(alone.sentence, / No app is linked to the account, so nobody gets its webhooks\.$/)

    const refused = await phone.post({ text: { body: 'to nobody' } })
    const { sentence, subscribers } = await explain(traceOf(refused))
    assert.match(sentence, /^The request \(messages\.send\) was refused with 400: .*to/)
    assert.deepEqual(subscribers, [])
    const written = await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: { name: 'New' } })
    assert.equal(
      (await explain(traceOf(written))).sentence,
      'The request (account.update) succeeded. It has raised no event, so there is no webhook.',
    )
  })

  test('a call', async (t) => {
    await subscribe(t, server, { fields: ['calls'] })
    const sides = callSides(server)
    const id = await sides.callUser(phone.newUser())
    const { kind, sentence } = await explain(id)
    assert.deepEqual([kind, sentence], ['call', 'The business calls the user, whose phone does not ring yet.'])
  })

  test('what is unknown or belongs to others is 404', async (t) => {
    await subscribe(t, server)
    const user = phone.newUser()
    await phone.write(user)
    const sent = await phone.post({ to: user, text: { body: 'Hello' } })
    await server.app.settle()
    const id = sent.body.messages[0].id
    const { trace, subscribers } = await explain(id)
    const [request] = (await get('requests', { trace })).body.data
    const call = await callSides(server).callUser(phone.newUser())
    for (const known of [id, trace, subscribers[0].delivery_id, request.id, call]) {
      assert.equal((await why(known)).status, 200, known)
      assertError(await why(known, tokens.limitedOperator), notFound())
    }
    for (const unknown of [
      'wamid.none',
      '999999999',
      '9'.repeat(40),
      'wacid.none',
      'request-none-1',
      'f'.repeat(32),
      'ÿ 😀',
    ]) {
      assertError(await why(unknown), notFound())
    }
    assert.ok([400, 404].includes((await why('\0')).status))
  })

  test('a webhook that a slow subscriber has not answered yet', async (t) => {
    const slow = await subscribe(t, server)
    slow.answerWith(hang)
    const id = await phone.write(phone.newUser())
    await slow.whenPosted(1)
    const { state, sentence } = bySubscriber((await explain(id)).subscribers)['Shrub CRM'] as Subscriber
    assert.deepEqual([state, sentence], ['waiting', 'Being sent, or next in turn: no response has come yet.'])
  })
})
