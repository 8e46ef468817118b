import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadSinks } from './harness/bad-sinks.ts'
import { startCrowded, writeAs } from './harness/crowd.ts'
import { onBothDatabases } from './harness/databases.ts'
import { userOf } from './harness/webhooks.ts'

const hanging = 700
const events = 20
/** Of a post that hangs. */
const timeout = 10_000

onBothDatabases('one host that hangs behind 700 subscribers', (engine) => {
  test('one host that hangs behind 700 subscribers delays nobody at another host', async (t) => {
    const [bad, good] = [await new BadSinks().start(), await new BadSinks().start()]
    t.after(() => Promise.all([bad.end(), good.end()]))
    const callbacks = Array.from({ length: hanging }, (_, index) => `${bad.url}/silent/${index}`)
    const { server } = await startCrowded(t, {
      engine,
      callbacks: [...callbacks, `${good.url}/good`],
      env: { WEBHOOK_TIMEOUT: `${timeout}ms` },
    })
    const started = performance.now()
    let slowest = 0
    for (let i = 0; i < events; i++) {
      const raised = performance.now()
      assert.equal(await writeAs(server, userOf(i), `m.${i}`), 200)
      await good.whenCame('good', i + 1)
      slowest = Math.max(slowest, performance.now() - raised)
    }
    const took = performance.now() - started
    const posts = [...bad.posts.values()].reduce((sum, count) => sum + count, 0)
    t.diagnostic(
      `${events} events in ${took.toFixed(0)} ms, the slowest after ${slowest.toFixed(0)} ms; ${posts} posts hang`,
    )
    assert.ok(slowest < timeout / 2, `an event waited for ${slowest} ms, although only others hang`)
    assert.ok(posts > 0 && posts <= 32 * Math.ceil(took / timeout), `no more than one host has room for: ${posts}`)
  })
})
