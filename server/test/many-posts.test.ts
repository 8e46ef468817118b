import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCrowded } from './harness/crowd.ts'
import { onOneDatabase } from './harness/databases.ts'
import { OrderSink } from './harness/order-sink.ts'
import { Writers } from './harness/writers.ts'

const answerTime = 100
const users = 60
const each = 3

onOneDatabase('a subscriber that takes 100 ms to answer, while sixty users write', 'postgres', (engine) => {
  test('gets many posts at once, nothing twice, nothing out of order within a conversation', async (t) => {
    const sink = await new OrderSink().start()
    t.after(() => sink.end())
    // Nothing is answered before everything is written, so that it does not matter how quickly this machine writes.
    const written = Promise.withResolvers<void>()
    sink.answerWith((response) => void written.promise.then(() => setTimeout(() => response.end(), answerTime)))
    const { server } = await startCrowded(t, { engine, callbacks: [sink.url], env: { WEBHOOK_TIMEOUT: '60s' } })
    const writers = new Writers(users, () => server.url)
    await writers.write(each)
    const started = performance.now()
    written.resolve()
    await sink.whenTaken(users * each)
    const took = performance.now() - started
    t.diagnostic(`${((users * each) / (took / 1000)).toFixed(0)} events/s, up to ${sink.mostUnderWay} under way`)
    assert.deepEqual(sink.early, [])
    assert.equal(sink.arrivals.length, users * each, 'each once')
    assert.ok(sink.mostUnderWay > 16 && sink.mostUnderWay <= 32, `${sink.mostUnderWay} were under way at once`)
    assert.ok(took < users * each * answerTime, `one after the other would take ${users * each * answerTime} ms`)
  })

  test('gets no more at once than WEBHOOK_CONCURRENCY, and several changes a post with WEBHOOK_BATCH', async (t) => {
    const sink = await new OrderSink().start()
    t.after(() => sink.end())
    let [posts, largest] = [0, 0]
    sink.answerWith((response, written) => {
      posts += 1
      largest = Math.max(largest, written.length)
      setTimeout(() => response.end(), answerTime)
    })
    const env = { WEBHOOK_CONCURRENCY: '3', WEBHOOK_BATCH: '8' }
    const { server } = await startCrowded(t, { engine, callbacks: [sink.url], env })
    const writers = new Writers(users, () => server.url)
    await writers.write(each)
    await sink.whenTaken(users * each)
    assert.deepEqual(sink.early, [])
    assert.ok(sink.mostUnderWay <= 3, `${sink.mostUnderWay} were under way at once`)
    assert.ok(largest > 1 && largest <= 8, `${largest} changes in a post`)
    assert.ok(posts < (users * each) / 2, `${posts} posts`)
  })
})
