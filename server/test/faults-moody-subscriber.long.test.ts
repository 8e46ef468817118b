import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCrowded } from './harness/crowd.ts'
import { onBothDatabases } from './harness/databases.ts'
import { OrderSink } from './harness/order-sink.ts'
import { until } from './harness/until.ts'
import { Writers } from './harness/writers.ts'

const users = 40

onBothDatabases('a subscriber that answers slowly, then not at all, then again', (engine) => {
  test('a subscriber that answers slowly, then not at all, then again: gets everything in the end, each conversation in order, and fewer posts while it is silent', async (t) => {
    const [sink, other] = [await new OrderSink().start(), await new OrderSink().start()]
    t.after(() => Promise.all([sink.end(), other.end()]))
    const env = { WEBHOOK_TIMEOUT: '3s', WEBHOOK_RETRY_DELAYS: '500ms,1s' }
    const { server } = await startCrowded(t, { engine, callbacks: [sink.url, other.url], env })
    const writers = new Writers(users, () => server.url)
    t.after(() => writers.halt())

    sink.answerWith((response) => setTimeout(() => response.end(), 200))
    writers.start(20)
    await until(() => sink.count > 3 * users, 'a slow subscriber is delivered to')
    assert.ok(sink.mostUnderWay > 8, `many at once: ${sink.mostUnderWay}`)

    // Whatever is under way hangs from now on.
    const fromNow = sink.arrivals.length
    sink.answerWith(() => undefined)
    const written = writers.count
    await until(() => writers.count > written + 3 * users, 'users go on writing')
    await other.whenTaken(writers.count)
    const silent = sink.arrivals.length - fromNow
    sink.answerWith((response) => response.end())
    await writers.halt()
    await sink.whenTaken(writers.count)
    t.diagnostic(
      `${writers.count} messages, ${silent} posts while it was silent, ${sink.mostUnderWay} under way at the most`,
    )
    assert.deepEqual([sink.early, other.early], [[], []])
    // On a machine that stands still for seconds an answer may come too late.
    const twice = other.arrivals.length - writers.count
    assert.ok(twice < users / 4, `another subscriber noticed nothing, but got ${twice} again`)
    assert.ok(silent < 3 * users, `it was spared while it was silent: ${silent}`)
  })
})
