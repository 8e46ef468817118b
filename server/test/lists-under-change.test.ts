import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from '../src/base/keys/random.ts'
import type { Transaction } from '../src/db/database.ts'
import type { Node } from '../src/graph/nodes.ts'
import { toStoredSchedule } from '../src/resources/schedules/rules.ts'
import { insertSchedule } from '../src/resources/schedules/store.ts'
import { onBothDatabases } from './harness/databases.ts'
import { byForm } from './harness/form.ts'
import { fc } from './harness/properties.ts'
import { type TestServer, testStart, useTestServer } from './harness/server.ts'
import { accounts, ids, tokens } from './harness/world.ts'

/**
 * Someone walks through a list, page by page, forwards to its end and back, while rows come and go between the pages, anywhere
 * in the list, also under the walker's feet. The list of schedules stands for all: every list is read by the same code.
 */

const account: Node = {
  id: accounts.onBehalf,
  kind: 'account',
  business_id: ids.business,
  account_id: accounts.onBehalf,
}

interface Row {
  readonly id: string
  readonly created_time: number
  readonly updated_time: number
}

// A few moments only, so that many rows share one and the id has to tell them apart.
const moment = fc.integer({ min: 0, max: 5 }).map((seconds) => testStart + seconds * 1000)
const times = fc.record({ created_time: moment, updated_time: moment })
type Times = Omit<Row, 'id'>

/** Rows that come with these times, and rows that go, picked by a number from those that are there. */
const changes = fc.record({
  coming: fc.array(times, { maxLength: 3 }),
  going: fc.array(fc.nat(), { maxLength: 3 }),
})
type Changes = { coming: Times[]; going: number[] }

const walks = fc.record({
  sort: fc.constantFrom('created_time.asc', 'created_time.desc', 'updated_time.asc', 'updated_time.desc'),
  limit: fc.integer({ min: 1, max: 5 }),
  atFirst: fc.array(times, { maxLength: 20 }),
  meanwhile: fc.array(changes, { maxLength: 12 }),
})

/** The rows of the list, and what is known of them besides: kept in step with the store. */
class Rows {
  readonly present = new Map<string, Row>()
  /** All that there ever were, to tell where those stood that are gone. */
  readonly known = new Map<string, Row>()
  readonly #server: TestServer
  #names = 0

  constructor(server: TestServer) {
    this.#server = server
  }

  async replaceAll(rows: readonly Times[]): Promise<void> {
    await this.#server.database.transaction(async (tx) => {
      await tx.query.deleteFrom('schedules').where('account_id', '=', account.id).execute()
      for (const row of rows) await this.#insert(tx, row)
    })
  }

  async change({ coming, going }: Changes): Promise<void> {
    await this.#server.database.transaction(async (tx) => {
      for (const number of going) {
        const id = [...this.present.keys()][number % this.present.size]
        if (id === undefined) break
        await tx.query.deleteFrom('schedules').where('id', '=', id).execute()
        this.present.delete(id)
      }
      for (const row of coming) await this.#insert(tx, row)
    })
  }

  async #insert(tx: Transaction, rowTimes: Times): Promise<void> {
    const schedule = toStoredSchedule({ name: `Schedule ${this.#names++}`, schedule_type: 'CUSTOM' })
    const id = await insertSchedule(tx, systemRandom, account, { ...schedule, ...rowTimes })
    assert.ok(id)
    const row = { id, ...rowTimes }
    this.present.set(id, row)
    this.known.set(id, row)
  }
}

interface Page {
  readonly data: readonly { id: string }[]
  readonly paging: {
    readonly cursors: { before?: string; after?: string }
    readonly next?: string
    readonly previous?: string
  }
}

onBothDatabases('a list that changes while someone walks through it', (engine) => {
  const server = useTestServer({ engine })

  async function fetchPage(query: Record<string, string>): Promise<Page> {
    const path = `/v23.0/${account.id}/schedules`
    const answer = await server.client.get(path, { token: tokens.owner, query: { fields: 'id', ...query } })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  test('a list that changes while someone walks through it misses and repeats no row that stays, and keeps its order, in both directions', async () => {
    await fc.assert(
      fc.asyncProperty(walks, async ({ sort, limit, atFirst, meanwhile }) => {
        const rows = new Rows(server)
        await rows.replaceAll(atFirst)
        const compare = comparisonOf(sort)
        const pending = [...meanwhile]
        const query = { sort, limit: String(limit) }

        /** Follows one side of the pages to its end; what was seen is in the order of the list. */
        async function walk(first: Page, side: 'after' | 'before'): Promise<{ seen: string[]; last: Page }> {
          const seen: string[] = []
          let page = first
          let last = first
          for (;;) {
            assert.ok(page.data.length <= limit)
            const shown = page.data.map(({ id }) => id)
            for (const id of shown) {
              assert.ok(rows.present.has(id), 'a page shows what is there')
              assert.ok(!seen.includes(id), 'nothing is repeated')
            }
            if (side === 'after') seen.push(...shown)
            else seen.unshift(...shown)
            if (shown.length > 0) last = page
            const cursor = page.paging.cursors[side]
            const goesOn = side === 'after' ? page.paging.next : page.paging.previous
            if (cursor === undefined || goesOn === undefined) return { seen, last }
            const change = pending.shift()
            if (change) await rows.change(change)
            page = await fetchPage({ ...query, [side]: cursor })
          }
        }

        function checkWalk(seen: readonly string[], staying: readonly Row[]): void {
          const sorted = seen.map((id) => rows.known.get(id) as Row).sort(compare)
          assert.deepEqual(
            seen,
            sorted.map(({ id }) => id),
            'the order is kept',
          )
          const missed = staying.filter(({ id }) => rows.present.has(id) && !seen.includes(id))
          assert.deepEqual(missed, [], 'nothing is missed')
        }

        const atStart = [...rows.present.values()]
        const { seen, last } = await walk(await fetchPage(query), 'after')
        checkWalk(seen, atStart)

        const { before } = last.paging.cursors
        const turningPoint = rows.known.get(last.data[0]?.id ?? '')
        if (before === undefined || !turningPoint) return
        const behind = [...rows.present.values()].filter((row) => compare(row, turningPoint) < 0)
        const back = await walk(await fetchPage({ ...query, before }), 'before')
        checkWalk(back.seen, behind)
        assert.ok(back.seen.every((id) => compare(rows.known.get(id) as Row, turningPoint) < 0))
      }),
      { numRuns: byForm(15, 60) },
    )
  })
})

/** The order that a sort asks for; rows of the same time are in the order of their ids, in the same direction. */
function comparisonOf(sort: string): (one: Row, other: Row) => number {
  const [column, direction] = sort.split('.') as ['created_time' | 'updated_time', 'asc' | 'desc']
  const turn = direction === 'asc' ? 1 : -1
  return (one, other) => turn * (one[column] - other[column] || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0))
}
