import assert from 'node:assert/strict'
import { before, mock, test } from 'node:test'
import { type RawBuilder, sql } from 'kysely'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, tokens } from '../../../test/harness/world.ts'
import { CursorSealer } from '../../graph/lists/cursors.ts'
import { newestFirst, Page, type PageArguments } from '../../graph/lists/paging.ts'

/** Several looks pass them, and some of these find nothing. */
const count = 14_000
const every = 3500
const fitting = count / every

onOneDatabase('lists of many rows of which few fit', 'postgres', (engine) => {
  const server = useTestServer({ engine })

  /** Rows 1 to `count`: `i` in `values` is the number of the row. */
  const insertMany = (into: RawBuilder<unknown>, values: RawBuilder<unknown>) =>
    server.database.transaction(({ query }) =>
      sql`INSERT INTO ${into}
        WITH RECURSIVE counted(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < ${sql.lit(count)})
        SELECT ${values} FROM counted`.execute(query),
    )
  const one = (fits: string, other: string) =>
    sql`CASE WHEN i % ${sql.lit(every)} = 0 THEN ${sql.lit(fits)} ELSE ${sql.lit(other)} END`

  before(async () => {
    const time = sql.lit(server.clock.now())
    await insertMany(
      sql`activities (time, operation, node_id, node_kind, business_id, account_id, actor_app_id, actor_business_id, actor_token_id, remote_address, trace)`,
      sql`${time} - i, ${one('thing.found', 'thing.passed')}, '1', 'thing', '1', NULL, '1', '1', 't', '127.0.0.1', 'x'`,
    )
    await insertMany(
      sql`nodes (id, kind, business_id, account_id)`,
      sql`'9' || i, ${one('media', 'bot')}, '1', ${one('901', '902')}`,
    )
    await insertMany(
      sql`tokens (id, hash, app_id, scopes, created_time, revoked_time)`,
      sql`'many' || i, 'hash' || i, ${sql.lit(ids.application)}, ${sql.raw(engine === 'postgres' ? "'[]'::jsonb" : "'[]'")},
        ${time} - i, CASE WHEN i % ${sql.lit(every)} = 0 THEN ${time} END`,
    )
    await insertMany(
      sql`lanes (id, app_id, callback_url, leased_until, paused_until, failures, next_due, stopped_until)`,
      sql`'many' || i, ${sql.lit(ids.application)}, 'http://127.0.0.1:9/' || i, 0, 0, 0,
        CASE WHEN i % ${sql.lit(every)} = 0 THEN ${sql.lit(server.clock.now() + 1e9)} END, 0`,
    )
  })

  interface Answer {
    readonly data: readonly { readonly id: string }[]
    readonly paging: { readonly next?: string; readonly previous?: string }
  }

  /** Page by page to the end, and back to the beginning. */
  async function readPages(path: string, query: Record<string, string>): Promise<[there: string[], back: string[]]> {
    const get = async (query: Record<string, string>) =>
      (await server.client.get(`/operator/${path}`, { token: tokens.operator, query })).body as Answer
    const there: string[] = []
    const back: string[] = []
    let page = await get({ ...query, limit: '3' })
    const follow = async (link: string) => {
      page = await get(Object.fromEntries(new URL(link).searchParams))
    }
    there.push(...page.data.map(({ id }) => id))
    while (page.paging.next) {
      await follow(page.paging.next)
      there.push(...page.data.map(({ id }) => id))
    }
    back.unshift(...page.data.map(({ id }) => id))
    while (page.paging.previous) {
      await follow(page.paging.previous)
      back.unshift(...page.data.map(({ id }) => id))
    }
    return [there, back]
  }

  const lists: [path: string, query: Record<string, string>][] = [
    ['audit', { operation: 'thing.found' }],
    ['audit', { operation: 'thing.found', since: '1d', until: '0s' }],
    ['nodes', { kind: 'media', account_id: '901' }],
    ['nodes', { q: '00', account_id: '901' }],
    ['tokens', { state: 'revoked', app_id: ids.application }],
    ['lanes', { waiting: 'true', app_id: ids.application }],
  ]
  for (const [path, query] of lists) {
    test(`${path}?${new URLSearchParams(query)} finds all of them, there and back`, async () => {
      const [there, back] = await readPages(path, query)
      assert.equal(there.length, fitting)
      assert.equal(new Set(there).size, fitting)
      assert.deepEqual(back, there)
    })
  }

  test('a page that took too long ends where it looked, also without an item, and its links lead on and back', async () => {
    const sealer = new CursorSealer('a secret of this test')
    const self = { url: 'http://127.0.0.1/list', query: '' }
    const real = performance.now.bind(performance)
    let later = 0
    mock.method(performance, 'now', () => real() + later)
    const db = server.database.read
    const read = async (args: PageArguments) => {
      const page = new Page(newestFirst(10, 'time'), args, 'list', sealer, self, 0)
      const { data, paging } = await page.fetch(
        (range) => {
          later += 3000
          return range
            .apply(db.query.selectFrom('activities').selectAll().where('operation', '=', 'thing.found'))
            .execute()
        },
        ({ time }) => ({ time }),
        { db, table: 'activities' },
      )
      return { data, links: paging as { next?: string; previous?: string } }
    }
    const argumentOf = (link: string): PageArguments => Object.fromEntries(new URL(link).searchParams)
    try {
      const found: unknown[] = []
      let pages = 0
      let empty = 0
      let page = await read({})
      let last = page
      for (; page.links.next; page = await read(argumentOf(page.links.next))) {
        pages += 1
        if (page.data.length === 0) empty += 1
        found.push(...page.data.map(({ time }) => time))
        last = page
      }
      // As before, nothing leads back from an end without an item.
      assert.deepEqual([page.data, page.links.previous], [[], undefined])
      assert.equal(found.length, fitting)
      assert.ok(pages >= count / 2000 && empty >= 3, `${pages} pages, ${empty} of them empty`)
      const back: unknown[] = last.data.map(({ time }) => time)
      while (last.links.previous) {
        last = await read(argumentOf(last.links.previous))
        back.unshift(...last.data.map(({ time }) => time))
      }
      assert.deepEqual(back, found)
    } finally {
      mock.restoreAll()
    }
  })
})
