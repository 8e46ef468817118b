import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sql } from 'kysely'
import type { Database } from '../src/db/database.ts'
import { onBothDatabases } from './harness/databases.ts'
import { addDelivery } from './harness/delivered.ts'
import { useTestServer } from './harness/server.ts'
import { ids, tokens } from './harness/world.ts'

/** PostgreSQL works in a process of its own: there it is the lock of a batch that counts, not how many there are. */
const counts = { sqlite: 1_000_000, postgres: 100_000 } as const
const atOnce = 100_000
/** An address of its own, whose lane is paused: what is measured is the replay, not the sending. */
const to = 'https://elsewhere.test/hook'

/** Deliveries that failed, each of an event of its own, in 10,000 conversations. */
async function fill(database: Database, now: number, inAll: number): Promise<void> {
  for (let from = 0; from < inAll; from += atOnce) {
    await database.transaction(async ({ query }) => {
      const last = sql`(SELECT MAX(id) FROM events)`
      const { rows } = await sql<{ id: number }>`SELECT ${last} AS id`.execute(query)
      const before = Number(rows[0]?.id ?? 0)
      const time = sql`CAST(${now} AS BIGINT)`
      await sql`INSERT INTO events (account_id, phone_number_id, field, value, created_time)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.lit(atOnce)})
        SELECT ${ids.account}, NULL, 'account_update', '{"event":"' || i || '"}', ${time} FROM n`.execute(query)
      await sql`INSERT INTO deliveries (event_id, lane_id, account_id, app_id, field, conversation, state, attempts, earlier_attempts,
          due_time, created_time, started_time, finished_time)
        SELECT events.id, lanes.id, ${ids.account}, ${ids.application}, 'account_update', 'c' || (events.id % 10000), 'failed', 1, 0,
          ${time}, ${time}, ${time}, ${time} FROM events, (SELECT MIN(id) AS id FROM lanes) AS lanes
        WHERE events.id > ${sql.lit(before)}`.execute(query)
    })
  }
}

/** What is in use after a garbage collection, in MB. */
function measureHeap(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const order = (times: readonly number[]) => [...times].sort((one, other) => one - other)
const show = (times: readonly number[]) =>
  `${times.length}, median ${times[times.length >> 1]?.toFixed(1)} ms, longest ${times.at(-1)?.toFixed(1)} ms`

onBothDatabases('very many replays', (engine) => {
  const inAll = counts[engine]
  const server = useTestServer({ engine })
  const operator = { token: tokens.operator }
  const write = async (): Promise<number> => {
    const start = performance.now()
    const answer = await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: { name: 'Fern' } })
    assert.equal(answer.status, 200, answer.text)
    return performance.now() - start
  }

  test(`${inAll} deliveries are sent again, and hold up no write for long`, async (t) => {
    const { delivery_id } = await addDelivery(server.database, server.clock)
    await server.client.post('/operator/deliveries/replay', { ...operator, json: { ids: [delivery_id], to } })
    const lanes = (await server.client.get('/operator/lanes', { ...operator, query: { limit: '1000' } })).body.data
    const lane = lanes.find(({ callback_url }: { callback_url: string }) => callback_url === to)
    await server.client.post(`/operator/lanes/${lane.id}`, { ...operator, json: { action: 'pause' } })
    await fill(server.database, server.clock.now(), inAll)
    const alone: number[] = []
    for (let index = 0; index < 300; index++) alone.push(await write())
    const start = performance.now()
    const json = { state: 'failed', account_id: ids.account, to }
    const { job } = (await server.client.post('/operator/deliveries/replay', { ...operator, json })).body
    const begun = performance.now() - start
    assert.ok(Math.abs(job.total - inAll) < inAll / 100, `about ${job.total}`)
    const meanwhile: number[] = []
    const memory: number[] = []
    let shown = job
    while (shown.state === 'running') {
      for (let index = 0; index < 50; index++) meanwhile.push(await write())
      shown = (await server.client.get(`/operator/replays/${job.id}`, operator)).body
      if (shown.progress >= memory.length / 4) memory.push(measureHeap())
    }
    const took = performance.now() - start
    assert.deepEqual([shown.state, shown.replayed, shown.left_out], ['done', inAll, 0])
    const [usual, held] = [order(alone), order(meanwhile)]
    const megabytes = memory.map((one) => one.toFixed(0)).join(', ')
    t.diagnostic(
      `${engine}: ${inAll} in ${(took / 1000).toFixed(1)} s, begun in ${begun.toFixed(0)} ms; writes meanwhile: ${show(held)}; alone: ${show(usual)}; heap, quarter by quarter: ${megabytes} MB`,
    )
    assert.ok((memory.at(-1) ?? 0) < (memory[1] ?? 0) + 16, `memory grew: ${megabytes} MB`)
    const median = usual[usual.length >> 1] ?? 0
    // Of thousands over minutes one may meet a machine that does something else.
    const [nearlyAll, longest] = [held[Math.floor(held.length * 0.999)] ?? 0, held.at(-1) ?? 0]
    // Far above the median of a write, and far below what a caller would notice.
    assert.ok(nearlyAll - median < 100, `a write of a thousand took ${nearlyAll} ms and more, alone ${median} ms`)
    assert.ok(longest - median < 1000, `a write took ${longest} ms, alone ${median} ms`)
  })
})
