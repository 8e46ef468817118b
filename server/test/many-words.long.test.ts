import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import { listWords } from '../src/base/text/words.ts'
import type { Transaction } from '../src/db/database.ts'
import { onBothDatabases } from './harness/databases.ts'
import { seededRandom } from './harness/seeded-random.ts'
import { useTestServer } from './harness/server.ts'
import { numbers, strangerIds, tokens } from './harness/world.ts'

/** So many that reading all of them takes longer than a page may. */
const inAll = 100_000
const step = 5000
const user = '16505559500'
/**
 * How long a page may take, in milliseconds; on a machine with much else to do, so many times as long as a search that finds nothing.
 * Between two messages of the small tenant lie a thousand of others, which are passed one by one.
 */
const pageTime = { usual: 60, amongOthers: 300, times: 10 }

onBothDatabases('a search among very many messages', (engine) => {
  const server = useTestServer({ engine })
  const random = seededRandom(49)
  /** Few words are in most messages, and most words in few. */
  const drawWord = () => `w${Math.floor(20_000 ** random())}`

  const write = (index: number): string => {
    const words = Array.from({ length: 12 }, drawWord)
    // In all of them, in two of them far apart, and two that are common but together in one alone.
    const marks = ['everywhere', index % 50_000 === 7 ? 'seldom' : '', index % 2 === 0 ? 'even' : 'odd']
    return [...marks, ...words, index === 11 ? 'even odd' : ''].join(' ')
  }

  async function fill({ query }: Transaction, from: number): Promise<void> {
    const texts = Array.from({ length: step }, (_, index) => write(from + index))
    const now = server.clock.now() - inAll
    const rows = texts.map((body, index) => {
      const number = from + index
      const owner = number % 1000 === 0 ? strangerIds.phone_number : numbers.main
      const content = JSON.stringify({ value: { body } })
      return [`wamid.many${number}`, [owner, content, listWords(body), now + number]] as const
    })
    const given = JSON.stringify(Object.fromEntries(rows))
    await sql`INSERT INTO messages (id, chat_id, phone_number_id, user_wa_id, direction, type, is_voice, state, created_time)
      SELECT o.key, (o.value ->> 0) || ${`/${user}`}, o.value ->> 0, ${user}, 'to_user', 'text', FALSE, 'read', CAST(o.value ->> 3 AS BIGINT)
      FROM json_each(${given}) AS o`.execute(query)
    await sql`INSERT INTO message_contents (message_id, content, words, created_time)
      SELECT o.key, o.value ->> 1, o.value -> 2, CAST(o.value ->> 3 AS BIGINT) FROM json_each(${given}) AS o`.execute(
      query,
    )
  }

  before(async () => {
    for (let from = 0; from < inAll; from += step) await server.database.transaction((tx) => fill(tx, from))
    await server.app.sweep()
    if (engine === 'postgres') await sql`ANALYZE`.execute(server.database.read.query)
  })

  const find = async (query: Record<string, string>, token: string = tokens.operator) => {
    const answer = await server.client.get('/operator/find', { token, query })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  async function measure(query: Record<string, string>, token?: string): Promise<number> {
    const times: number[] = []
    for (let index = 0; index < 11; index++) {
      const start = performance.now()
      await find(query, token)
      times.push(performance.now() - start)
    }
    return times.sort((one, other) => one - other)[5] ?? 0
  }

  const number = (index: number) => `wamid.many${index}`
  const cases: readonly [name: string, query: Record<string, string>, expected: readonly string[], token?: string][] = [
    ['a word of all', { q: 'everywhere', limit: '3' }, [inAll - 1, inAll - 2, inAll - 3].map(number)],
    ['a word of two', { q: 'seldom' }, [50_007, 7].map(number)],
    ['two common words, together in one', { q: 'even odd' }, [11].map(number)],
    ['an old time', { q: 'everywhere', until: '99990ms' }, Array.from({ length: 10 }, (_, index) => number(9 - index))],
    [
      'one tenant of a thousand',
      { q: 'everywhere', limit: '2' },
      [inAll - 1000, inAll - 2000].map(number),
      tokens.limitedOperator,
    ],
    ['an id', { q: number(12_345) }, [number(12_345)]],
    ['no word of them', { q: 'nowhere' }, []],
  ]
  for (const [name, query, expected, token] of cases) {
    test(`a search among very many messages: ${name}`, async (t) => {
      const found: string[] = []
      let page = await find(query, token)
      found.push(...page.data.map(({ id }: { id: string }) => id))
      while (found.length < expected.length && page.paging.next) {
        page = await find(Object.fromEntries(new URL(page.paging.next).searchParams), token)
        found.push(...page.data.map(({ id }: { id: string }) => id))
      }
      assert.deepEqual(found, expected)
      const nothing = await measure({ q: 'nowhere' }, token)
      const median = await measure(query, token)
      const text = `${median.toFixed(1)} ms, without results ${nothing.toFixed(1)} ms`
      t.diagnostic(text)
      assert.ok(median < Math.max(token ? pageTime.amongOthers : pageTime.usual, pageTime.times * nothing), text)
    })
  }
})
