import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hour, minute } from '../src/base/time/duration.ts'
import { onOneDatabase } from './harness/databases.ts'
import { startSecondProcess } from './harness/second-process.ts'
import { startTestServer, type TestServer } from './harness/server.ts'
import { refuseWith, subscribe, takeIt } from './harness/subscriber.ts'
import { handInText } from './harness/webhooks.ts'

onOneDatabase('an older copy of a store that was restored', 'sqlite', (engine) => {
  /** Every test server begins with a copy of the same store. */
  async function startCopy(t: TestContext): Promise<TestServer> {
    const server = await startTestServer({ engine })
    t.after(() => server.stop())
    return server
  }

  async function deliver(t: TestContext, server: TestServer, id: string): Promise<string> {
    const subscriber = await subscribe(t, server)
    await handInText(server, id)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), [id])
    return String(subscriber.posts[0]?.headers['webhook-id'])
  }

  test('an older copy of a store that was restored sends new events under ids that it has never sent, although their numbers come again', async (t) => {
    const original = await startCopy(t)
    const before = await deliver(t, original, 'before')
    const restored = await startCopy(t)
    restored.clock.advance(hour)
    const after = await deliver(t, restored, 'after')
    const form = /^delivery_(\d+)_(\d+)$/
    assert.equal(form.exec(after)?.[1], form.exec(before)?.[1], 'the same number')
    assert.notEqual(after, before)
    assert.deepEqual(
      [before, after].map((id) => Number(form.exec(id)?.[2])),
      [original.clock.now(), restored.clock.now()],
    )
  })

  test('an older copy of a store that was restored goes on with the ids of earlier versions for what they may have sent', async (t) => {
    const server = await startCopy(t)
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    await handInText(server, 'old')
    await server.app.settle()
    await server.app.close(0)
    const { id } = await server.database.read.query.selectFrom('deliveries').select('id').executeTakeFirstOrThrow()
    // As an upgrade finds it.
    await server.database.transaction(({ query }) =>
      query.updateTable('webhook_ids').set({ last_plain_delivery: id }).execute(),
    )
    const next = await startSecondProcess(server)
    t.after(() => next.app.close(0))
    subscriber.answerWith(takeIt)
    server.clock.advance(minute)
    await next.app.settle()
    await handInText({ ...server, ...next }, 'new')
    await next.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['old', 'old', 'new'])
    const [, old, added] = subscriber.posts.map(({ headers }) => String(headers['webhook-id']))
    assert.equal(old, `delivery_${id}`)
    assert.match(added ?? '', /^delivery_\d+_\d+$/)
  })
})
