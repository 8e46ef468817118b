import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../test/harness/databases.ts'
import { usualLease as lease, makeDeliveryWorker } from '../../../test/harness/delivery-worker.ts'
import { startTestServer, type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { hang, subscribe, takeIt } from '../../../test/harness/subscriber.ts'
import { envelopeOf, handIn, handInText, messagesChange, textMessage, userOf } from '../../../test/harness/webhooks.ts'
import { accounts, ids, numbers, partnerIds, tokens } from '../../../test/harness/world.ts'
import { claimLanes } from './lanes.ts'

/** A second process's worker on the same store. */
const startSecondWorker = (server: TestServer) => makeDeliveryWorker(server, { timeout: 2000 })

onBothDatabases('lanes', (engine) => {
  const server = useTestServer({ engine })

  test('lanes deliver each conversation in the order in which things happened, each once, also when two processes work', async (t) => {
    const subscriber = await subscribe(t, server)
    const { worker, egress } = startSecondWorker(server)
    t.after(() => worker.stop(0, () => egress.close()))
    const users = 7
    const names = Array.from({ length: 140 }, (_, index) => `order.${index}`)
    for (const [index, name] of names.entries()) {
      assert.equal((await handInText(server, name, userOf(index % users))).status, 200)
      worker.wake()
    }
    await Promise.all([server.app.settle(), worker.settle()])
    await server.app.settle()
    const came = subscriber.messageIds()
    assert.equal(came.length, names.length)
    for (let user = 0; user < users; user++) {
      const isOfUser = (name: string) => Number(name.slice('order.'.length)) % users === user
      assert.deepEqual(came.filter(isOfUser), names.filter(isOfUser))
    }
  })

  /** A process that dies with the lane in its hands and nothing sent. */
  async function dieHolding(callback_url: string, until: number): Promise<void> {
    await server.database.transaction(async ({ query }) => {
      const lease = { lease_owner: 'dead', leased_until: until, next_due: 0 }
      await query.updateTable('lanes').set(lease).where('callback_url', '=', callback_url).execute()
    })
  }

  test('lanes go on with another process when the one that held them is dead, after its lease', async (t) => {
    const subscriber = await subscribe(t, server)
    await dieHolding(subscriber.url, server.clock.now() + lease)
    await handInText(server, 'held')
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), [])
    server.clock.advance(lease)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['held'])
  })

  test('lanes do not wait for a lease that a clock gave which has been set back since', async (t) => {
    const subscriber = await subscribe(t, server)
    await dieHolding(subscriber.url, server.clock.now() + 600_000)
    await handInText(server, 'after.the.step')
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['after.the.step'])
  })

  test('lanes are made with the callback that leads down them', async (t) => {
    const subscriber = await subscribe(t, server)
    const lanes = await server.database.read.query
      .selectFrom('lanes')
      .select(['app_id', 'next_due'])
      .where('callback_url', '=', subscriber.url)
      .execute()
    assert.deepEqual(
      lanes.map((lane) => ({ ...lane })),
      [{ app_id: ids.application, next_due: null }],
    )
  })

  test('lanes are claimed by one process at a time, however many ask at the same moment', async () => {
    const { database, clock } = server
    const quiet = await startQuietLanes(server, 20)
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        claimLanes(database, quiet, { owner: `p${index}`, milliseconds: 1000, clock }, clock.now()),
      ),
    )
    const claimed = claims.flat().map(({ id }) => id)
    assert.deepEqual([claimed.length, new Set(claimed).size], [quiet.length, quiet.length])
  })
})

/** Lanes that nobody works on, because nothing waits in them. */
async function startQuietLanes({ database }: TestServer, count: number): Promise<string[]> {
  const lanes = Array.from({ length: count }, (_, index) => `quiet.${index}`)
  await database.transaction(async ({ query }) => {
    const rows = lanes.map((id) => ({
      id,
      app_id: ids.application,
      callback_url: id,
      leased_until: 0,
      paused_until: 0,
      failures: 0,
      next_due: 0,
    }))
    await query.insertInto('lanes').values(rows).execute()
  })
  return lanes
}

onBothDatabases('a subscriber that never answers', (engine) => {
  test('a subscriber that never answers holds up nobody else: what the other gets comes while the first still hangs', async (t) => {
    const server = await startTestServer({ engine, env: { WEBHOOK_TIMEOUT: '10m' } })
    t.after(() => server.stop())
    const quick = await subscribe(t, server)
    const partner = { token: tokens.partner, id: partnerIds.application }
    const slow = await subscribe(t, server, { app: partner })
    slow.answerWith(hang)
    for (const token of [tokens.owner, tokens.partner]) {
      const answer = await server.client.post(`/v23.0/${accounts.shared}/subscribed_apps`, { token, json: {} })
      assert.equal(answer.status, 200, answer.text)
    }
    const handInShared = (id: string) => {
      const change = messagesChange(textMessage(id))
      const value = { ...change.value, metadata: { display_phone_number: '1', phone_number_id: numbers.shared } }
      return handIn(server, envelopeOf([{ ...change, value }], accounts.shared))
    }
    const names = Array.from({ length: 30 }, (_, index) => `beside.${index}`)
    for (const name of names) assert.equal((await handInShared(name)).status, 200)
    await quick.whenPosted(names.length)
    assert.deepEqual(quick.messageIds(), names)
    assert.deepEqual(slow.messageIds(), names.slice(0, 1), 'the other still hangs at its first')
  })

  test('a subscriber that never answers does not hold up the end of the service, and what was under way is sent by the next one', async (t) => {
    const server = await startTestServer({ engine, env: { WEBHOOK_TIMEOUT: '10m' } })
    t.after(() => server.stop())
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(hang)
    await handInText(server, 'under.way')
    await subscriber.whenPosted(1)
    // It waits for its grace alone, or the runner would not wait for it.
    await server.app.close(100)
    const tries = await server.database.read.query.selectFrom('delivery_attempts').selectAll().execute()
    assert.deepEqual(tries, [], 'what was broken off by us is no failure of the subscriber')

    subscriber.answerWith(takeIt)
    const { worker, egress } = startSecondWorker(server)
    await worker.settle()
    await worker.stop(1000, () => egress.close())
    assert.deepEqual(subscriber.messageIds(), ['under.way', 'under.way'])
  })
})
