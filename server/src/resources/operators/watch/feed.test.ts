import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertArgument } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { refuseWith, subscribe } from '../../../../test/harness/subscriber.ts'
import { handInText, userOf } from '../../../../test/harness/webhooks.ts'
import { ids, numbers, strangerIds, tokens } from '../../../../test/harness/world.ts'

interface Item {
  readonly id: string
  readonly type: string
  readonly time: string
  readonly phone_number_id: string | null
  readonly data: Readonly<Record<string, unknown>>
}

interface Page {
  readonly data: readonly Item[]
  readonly paging: { readonly next?: string; readonly previous?: string }
}

const stored = 'audit,event,message,delivery,try,replay'

onOneDatabase('the history of the feed', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { WEBHOOK_RETRY_DELAYS: '10s,1h' } })
  const read = async (query: Record<string, string>, token: string = tokens.operator): Promise<Page> => {
    const { status, body } = await server.client.get('/operator/feed', { token, query })
    assert.equal(status, 200, JSON.stringify(body))
    return body as Page
  }
  let middle = 0

  const cleanups: (() => unknown)[] = []
  after(() => Promise.all(cleanups.map((cleanup) => cleanup())))

  before(async () => {
    const t = { after: (cleanup: () => unknown) => cleanups.push(cleanup) } as unknown as TestContext
    const subscriber = await subscribe(t, server)
    // Several of one moment, so that pages end between items of the same time.
    for (const number of [1, 2, 3]) await handInText(server, `feed.${number}`, userOf(number))
    await server.app.settle()
    server.clock.advance(60_000)
    middle = server.clock.now()
    subscriber.answerWith(refuseWith(503))
    await handInText(server, 'feed.4', userOf(4))
    await server.app.settle()
    await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: { name: 'Renamed' } })
    server.clock.advance(1000)
  })

  /** Page by page to the end, and back to the beginning. */
  async function readPages(query: Record<string, string>): Promise<[there: Item[], back: Item[]]> {
    let page = await read(query)
    const there = [...page.data]
    const follow = async (link: string) => {
      page = await read(Object.fromEntries(new URL(link).searchParams))
    }
    while (page.paging.next) {
      await follow(page.paging.next)
      there.push(...page.data)
    }
    const back = [...page.data]
    while (page.paging.previous) {
      await follow(page.paging.previous)
      back.unshift(...page.data)
    }
    return [there, back]
  }

  for (const limit of ['1', '5', '1000']) {
    test(`what is stored is listed once, newest first, there and back, ${limit} a page`, async () => {
      const [there, back] = await readPages({ types: stored, limit })
      const counts = Object.fromEntries(
        Map.groupBy(there, ({ type }) => type)
          .entries()
          .map(([type, { length }]) => [type, length]),
      )
      assert.deepEqual(counts, { audit: counts['audit'], event: 4, message: 4, delivery: 4, try: 4 })
      assert.ok((counts['audit'] ?? 0) >= 1)
      assert.equal(new Set(there.map(({ id }) => id)).size, there.length)
      assert.deepEqual(
        there.map(({ time }) => time),
        there
          .map(({ time }) => time)
          .sort()
          .reverse(),
      )
      assert.deepEqual(back, there)
    })
  }

  test('items have the form of the stream, with a subject', async () => {
    for (const type of ['event', 'message', 'try', 'delivery']) {
      const { body } = await server.client.get('/operator/wait', {
        token: tokens.operator,
        query: { type, since: '1h' },
      })
      const { data } = await read({ types: type })
      assert.deepEqual(data.at(-1), body)
      assert.equal(body.data.subject, `text from +${userOf(1)}`)
    }
    const [failing] = (await read({ types: 'try' })).data
    assert.deepEqual([failing?.data['status'], failing?.data['subject']], [503, `text from +${userOf(4)}`])
  })

  test('a period, a type, an account and a number select', async () => {
    const since = new Date(middle).toISOString()
    const subjects = ({ data }: Page) => data.map(({ data }) => data['subject'])
    assert.deepEqual(subjects(await read({ types: 'event', since })), [`text from +${userOf(4)}`])
    assert.equal((await read({ types: 'event,try', until: since })).data.length, 6)
    assert.equal(
      (await read({ types: 'event', account_id: ids.account, phone_number_id: numbers.main })).data.length,
      4,
    )
    assert.deepEqual((await read({ types: stored, account_id: strangerIds.account })).data, [])
    assert.deepEqual((await read({ types: stored, phone_number_id: numbers.fresh })).data, [])
    const [record] = (await read({ types: 'audit', account_id: ids.account })).data
    assert.deepEqual([record?.type, record?.data['operation']], ['audit', 'account.update'])
    const wrong: Record<string, string>[] = [{ types: 'timer' }, { types: 'event,' }, { since: 'x' }, { after: 'x' }]
    for (const query of wrong) {
      const answer = await server.client.get('/operator/feed', { token: tokens.operator, query })
      assertArgument(answer, Object.keys(query)[0] as string)
    }
  })

  test('requests are among them as long as this process keeps them, with the number that their path names', async () => {
    await server.client.get(`/v23.0/${numbers.main}`, { token: tokens.owner })
    const [request] = (await read({ types: 'request', phone_number_id: numbers.main })).data
    assert.deepEqual(
      [request?.type, request?.phone_number_id, request?.data['operation']],
      ['request', numbers.main, 'phone_numbers.read_info'],
    )
    const all = (await read({ limit: '1000' })).data
    assert.deepEqual([...new Set(all.map(({ type }) => type))].sort(), [
      'audit',
      'delivery',
      'event',
      'message',
      'request',
      'try',
    ])
  })

  test('an operator with limits reads only what is its', async () => {
    const { data } = await read({ limit: '1000' }, tokens.limitedOperator)
    assert.deepEqual(
      data.filter(({ type }) => type !== 'request' && type !== 'audit'),
      [],
    )
    const [event] = (await read({ types: 'event' })).data
    assert.ok(event)
    await server.client.post(`/v23.0/${strangerIds.account}`, { token: tokens.stranger, json: { name: 'Other' } })
    const [record] = (await read({ types: 'audit' }, tokens.limitedOperator)).data
    assert.equal(record?.data['node_id'], strangerIds.account)
  })
})
