import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { startCrowded } from './harness/crowd.ts'
import { onBothDatabases } from './harness/databases.ts'
import { OrderSink } from './harness/order-sink.ts'
import { until } from './harness/until.ts'
import { Writers } from './harness/writers.ts'

/** How many posts are under way at first, and how many a host gets at first (server/src/delivery/worker/held-lane.ts and concurrency-limits.ts). */
const [firstOfSubscriber, firstOfHost] = [4, 16]
const users = 60
const each = 3

onBothDatabases('a subscriber that takes its time to answer, while many users write', (engine) => {
  test('a subscriber that takes its time to answer, while many users write: gets many posts at once, nothing twice, nothing out of order within a conversation', async (t) => {
    const sink = await new OrderSink().start()
    t.after(() => sink.end())
    const waiting: ServerResponse[] = []
    sink.answerWith((response) => void waiting.push(response))
    const { server } = await startCrowded(t, { engine, callbacks: [sink.url], env: { WEBHOOK_TIMEOUT: '10m' } })
    const writers = new Writers(users, () => server.url)
    await writers.write(each)
    // Each answer lets one more be under way, if as many were as may be: so one is answered when all have come.
    for (let count = firstOfSubscriber; count <= firstOfHost; count++) {
      await until(() => waiting.length === count, `${count} posts are under way`)
      waiting.shift()?.end()
    }
    await until(() => waiting.length > firstOfHost, 'more posts are under way than at first')
    sink.answerWith((response) => response.end())
    for (const response of waiting) response.end()
    await sink.whenTaken(users * each)
    assert.deepEqual(sink.early, [])
    assert.equal(sink.arrivals.length, users * each, 'each once')
    assert.ok(sink.mostUnderWay <= 32, `${sink.mostUnderWay} were under way at once`)
  })

  test('a subscriber that takes its time to answer, while many users write: gets no more at once than WEBHOOK_CONCURRENCY, and several changes a post with WEBHOOK_BATCH', async (t) => {
    const sink = await new OrderSink().start()
    t.after(() => sink.end())
    let [posts, largest] = [0, 0]
    const written = Promise.withResolvers<void>()
    sink.answerWith((response, changes) => {
      posts += 1
      largest = Math.max(largest, changes.length)
      void written.promise.then(() => response.end())
    })
    const env = { WEBHOOK_CONCURRENCY: '3', WEBHOOK_BATCH: '8', WEBHOOK_TIMEOUT: '10m' }
    const { server } = await startCrowded(t, { engine, callbacks: [sink.url], env })
    const writers = new Writers(users, () => server.url)
    await writers.write(each)
    written.resolve()
    await sink.whenTaken(users * each)
    assert.deepEqual(sink.early, [])
    assert.ok(sink.mostUnderWay <= 3, `${sink.mostUnderWay} were under way at once`)
    assert.ok(largest > 1 && largest <= 8, `${largest} changes in a post`)
    assert.ok(posts < (users * each) / 2, `${posts} posts`)
  })
})
