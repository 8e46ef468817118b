import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { afterUnknown, filterNotForType, nothingHappened, othersHappened } from '../src/resources/operators/errors.ts'
import { typesWithField, typesWithKind, typesWithMessage } from '../src/resources/operators/watch/wait-filter.ts'
import { afterNotOfChat, nothingArrived, otherMessagesArrived } from '../src/resources/users/errors.ts'
import type { Answer } from './harness/client.ts'
import { onOneDatabase } from './harness/databases.ts'
import { assertArgument, assertError } from './harness/errors.ts'
import { messageSides } from './harness/messages.ts'
import { useTestServer } from './harness/server.ts'
import { handInText } from './harness/webhooks.ts'
import { numbers, strangerIds, tokens } from './harness/world.ts'

/** Waits end with the first that fits: the time limits here are never reached unless something is wrong. */
const long = '60s'

onOneDatabase('waiting, in any language', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const sides = messageSides(server)
  const wait = (query: Record<string, string>, token: string = tokens.operator) =>
    server.client.callRow(server.client.row('operator.wait'), '/operator/wait', { token, query })
  const waitOnPhone = (query: Record<string, string>) =>
    server.client.callRow(server.client.row('gateway.wait'), '/gateway/wait', {
      token: tokens.gateway,
      query: { phone_number_id: numbers.main, ...query },
    })
  const user = sides.newUser()
  let last = ''

  const found = ({ status, body, text }: Answer): string => {
    assert.equal(status, 200, text)
    last = body.id
    const [message] = body.data.value.messages ?? []
    return message?.id ?? body.data.value.statuses[0].status
  }

  before(async () => {
    await sides.write(user)
    last = (await wait({ type: 'event', since: '1h' })).body.id
  })

  test('an operator waits by field and kind, and goes on behind the last item', async () => {
    await handInText(server, 'past.1')
    await sides.send(user)
    await handInText(server, 'past.2')
    const texts = { type: 'event', field: 'messages', kind: 'text', timeout: long }
    const start = last
    assert.equal(found(await wait({ ...texts, after: start })), 'past.1')
    assert.equal(found(await wait({ ...texts, after: last })), 'past.2')
    const next = wait({ ...texts, after: last })
    await handInText(server, 'next.1')
    assert.equal(found(await next), 'next.1')
    // Whatever happens between two waits is found by the second one.
    for (const id of ['between.1', 'between.2']) await handInText(server, id)
    for (const id of ['between.1', 'between.2']) assert.equal(found(await wait({ ...texts, after: last })), id)
    assert.equal(found(await wait({ type: 'message', kind: 'delivered', after: start, timeout: long })), 'delivered')
    assert.equal(found(await wait({ type: 'event', kind: 'sent', since: '1h', timeout: long })), 'sent')
  })

  test('an operator waits for what becomes of one message', async () => {
    const others = await sides.send(user)
    const sent = await sides.send(user)
    for (const message_id of [sent, others]) {
      const about = { message_id, kind: 'delivered', since: '1h', timeout: long }
      for (const type of ['event', 'message']) {
        const { status, body, text } = await wait({ ...about, type })
        assert.equal(status, 200, text)
        assert.equal(body.data.value.statuses[0].id, message_id)
      }
    }
    await handInText(server, 'about.1')
    assert.equal(found(await wait({ type: 'event', message_id: 'about.1', since: '1h', timeout: long })), 'about.1')
    assertError(
      await wait({ type: 'event', message_id: 'nobody', since: '1h', timeout: '0.01' }),
      nothingHappened({ type: 'event', waited: 0.01 }),
    )
    assertError(
      await wait({ type: 'call', message_id: 'about.1', timeout: '1' }),
      filterNotForType('message_id', { type: 'call', types: typesWithMessage }),
    )
  })

  test('an operator waits for the requests behind another one', async () => {
    const first = (await wait({ type: 'request', since: '1h' })).body.id
    const second = (await wait({ type: 'request', after: first })).body.id
    assert.notEqual(second, first)
  })

  test('408 says which fields and kinds came instead; 400 for filters that a type does not have', async () => {
    // Of the store, where everything is that has been responded to.
    const query = { type: 'event', field: 'calls', since: '1h', timeout: '0.01' }
    await handInText(server, 'other.1')
    const values = await sides.readEvents()
    const kinds = values.map(({ messages, statuses }) => messages?.[0].type ?? statuses[0].status)
    const others = [...new Set(kinds)].map((kind) => `messages ${kind}`)
    assertError(await wait(query), othersHappened({ type: 'event', waited: 0.01, others }))
    const elsewhere = { ...query, account_id: strangerIds.account }
    assertError(await wait(elsewhere), nothingHappened({ type: 'event', waited: 0.01 }))
    const request = { type: 'request', since: '1h' }
    assertError(
      await wait({ ...request, field: 'messages' }),
      filterNotForType('field', { type: 'request', types: typesWithField }),
    )
    assertError(
      await wait({ type: 'try', kind: 'text' }),
      filterNotForType('kind', { type: 'try', types: typesWithKind }),
    )
    assertArgument(await wait({ type: 'event', field: 'mesages' }), 'field')
    assertError(await wait({ type: 'event', after: 'event-999999999' }), afterUnknown('after'))
    // The event is another tenant's.
    assertError(await wait({ type: 'event', after: last }, tokens.limitedOperator), afterUnknown('after'))
  })

  test('a phone waits for the messages of a business, and goes on behind what the user wrote or got last', async () => {
    const written = await sides.gateway('messages', {
      ...{ phone_number_id: numbers.main, from: user, type: 'text', text: { body: 'Hello?' } },
    })
    const question = written.body.message_id
    const next = (after: string, rest = {}) => waitOnPhone({ user_wa_id: user, after, timeout: long, ...rest })
    const first = await sides.send(user, { text: { body: 'One' } })
    const arrived = await next(question)
    assert.deepEqual([arrived.status, arrived.body.id, arrived.body.text.body], [200, first, 'One'])
    const coming = next(first)
    const second = await sides.send(user, { text: { body: 'Two' } })
    assert.equal((await coming).body.id, second)
    assert.equal((await next(question, { type: 'text' })).body.id, first)
    assert.equal((await waitOnPhone({ user_wa_id: user, since: '1h' })).status, 200)
  })

  test('a phone waits until it is online', async () => {
    const away = sides.newUser()
    await sides.write(away)
    await sides.gateway(`users/${away}`, { presence: 'offline' })
    const query = { user_wa_id: away, since: '1h' }
    const sent = await sides.send(away)
    assertError(await waitOnPhone({ ...query, timeout: '0' }), nothingArrived({ waited: 0 }))
    const coming = waitOnPhone({ ...query, timeout: long })
    await sides.gateway(`users/${away}`, { presence: 'online' })
    await server.app.settle()
    assert.equal((await coming).body.id, sent)
    const image = { ...query, type: 'image', timeout: '0' }
    assertError(await waitOnPhone(image), otherMessagesArrived({ waited: 0, others: ['text'] }))
    assertError(await waitOnPhone({ user_wa_id: user, after: sent }), afterNotOfChat('after'))
  })
})
