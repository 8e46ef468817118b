import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFuzzedServer } from './fuzz/server.ts'
import { BadSinks, badManners } from './harness/bad-sinks.ts'
import { envelopeOf, messagesChange, textMessage } from './harness/webhooks.ts'
import { ids, testWorld, tokens } from './harness/world.ts'

/** Subscribers that behave badly in four ways, and one that does not. What each way alone leads to is in egress.test.ts. */

const each = 10
const events = 20
/** Longer than this test takes on any machine: who waits for a bad one never ends. */
const timeout = 600_000

function worldWith(url: string): object {
  const world = testWorld()
  const app = (id: string, path: string) => ({
    id,
    business_id: ids.business,
    name: path,
    secret: `secret of ${path}`,
    webhook: { callback_url: `${url}/${path}`, verify_token: 'vt', fields: ['messages'] },
  })
  const bad = badManners.flatMap((manner, kind) =>
    Array.from({ length: each }, (_, i) => app(`30000000000${kind + 1}00${i}`, `${manner}/${i}`)),
  )
  const apps = [...bad, app('3000000000050000', 'good')]
  const accounts = world.accounts.map((account) =>
    account.id === ids.account ? { ...account, subscribed_apps: apps.map(({ id }) => id) } : account,
  )
  return { ...world, apps: [...world.apps, ...apps], accounts }
}

test('sinks that are silent, trickle, never end or reset delay nobody else, and cost little memory', async (t) => {
  // So no response shows yet that the host is well, when the first posts to it fail.
  const sinks = await new BadSinks(each).start()
  const env = { WEBHOOK_TIMEOUT: `${timeout}ms`, LOG_LEVEL: 'silent' }
  const server = await startFuzzedServer('sqlite', { env, world: worldWith(sinks.url) })
  t.after(async () => {
    await sinks.end()
    await server.stop()
  })
  const before = await server.measure()
  for (let i = 0; i < events; i++) {
    const response = await fetch(`${server.url}/msgapp/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.gateway}`, 'content-type': 'application/json' },
      body: JSON.stringify(envelopeOf([messagesChange(textMessage(`m.${i}`))])),
    })
    assert.equal(response.status, 200)
    await response.arrayBuffer()
  }
  await sinks.whenCame('good', events)

  for (let i = 0; i < each; i++) {
    await sinks.whenCame(`silent/${i}`, 1)
    await sinks.whenCame(`trickling/${i}`, 1)
    // A status that came counts, whatever becomes of the body.
    await sinks.whenCame(`endless/${i}`, events)
    await sinks.whenCame(`resetting/${i}`, 1)
  }
  for (const path of ['silent/0', 'trickling/0']) assert.equal(sinks.posts.get(path), 1, 'one at a time')
  const after = await server.measure()
  t.diagnostic(`resident ${before.rss / 1e6} MB, then ${after.rss / 1e6} MB`)
  assert.ok(after.heap < before.heap + 16_000_000, `the heap is ${after.heap} bytes, and was ${before.heap}`)
  assert.ok(after.rss < 400_000_000, `${after.rss} bytes are resident`)
  // What the sockets between hold besides the 64 KiB that are read.
  assert.ok(sinks.longest < 16_000_000, `${sinks.longest} bytes of an answer were taken`)
})
