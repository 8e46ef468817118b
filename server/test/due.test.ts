import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from '../src/base/keys/random.ts'
import { setTimer } from '../src/timers/set.ts'
import { onBothDatabases } from './harness/databases.ts'
import { useTestServer } from './harness/server.ts'
import { subscribe } from './harness/subscriber.ts'
import { handInText } from './harness/webhooks.ts'
import { numbers, tokens } from './harness/world.ts'

onBothDatabases('a commit', (engine) => {
  const server = useTestServer({ engine })

  /** What the commits of some work made due, one entry each: how long the first timer waits, and where events go. */
  async function watch(work: () => Promise<unknown>): Promise<{ timers?: number; lanes: string[] }[]> {
    const { clock, database } = server
    const seen: { timers?: number; lanes: string[] }[] = []
    const stop = database.onDue(({ timers, lanes }) =>
      seen.push({
        ...(timers !== undefined && { timers: timers - clock.now() }),
        lanes: lanes.map(({ callback_url }) => callback_url),
      }),
    )
    try {
      await work()
    } finally {
      stop()
    }
    return seen
  }

  const post = async (path: string, json: object) => {
    const answer = await server.client.post(`/v23.0/${numbers.main}/${path}`, { token: tokens.owner, json })
    assert.equal(answer.status, 200, answer.text)
  }

  test('a commit that makes nothing due wakes nobody', async () => {
    const profile = { messaging_product: 'msgapp', about: 'Open' }
    assert.deepEqual(await watch(() => post('msgapp_business_profile', profile)), [])
  })

  test('a commit that sets a timer wakes who lets timers go off, at its time', async () => {
    const group = { messaging_product: 'msgapp', subject: 'Regulars' }
    assert.deepEqual(await watch(() => post('groups', group)), [{ timers: 250, lanes: [] }])
  })

  test('a commit that raises events names each lane that they go down once, if anybody is subscribed', async (t) => {
    assert.deepEqual(await watch(() => handInText(server, 'nobody')), [])
    const sink = await subscribe(t, server)
    assert.deepEqual((await watch(() => handInText(server, 'somebody')))[0], { lanes: [sink.url] })
    await server.app.settle()
  })

  test('a commit wakes for what was committed, and not for what was undone beside it', async () => {
    const { database, clock } = server
    const tools = { clock, random: systemRandom }
    const setIn = (wait: number, fails: boolean) =>
      database.transaction(async (tx) => {
        await setTimer(tx, tools, { kind: 'none', due_time: clock.now() + wait, payload: {} })
        if (fails) throw new Error('undone')
      })
    const seen = await watch(() =>
      Promise.allSettled([setIn(50_000, false), setIn(20_000, true), setIn(30_000, false)]),
    )
    const waits = seen.map(({ timers }) => timers)
    // The embedded store commits those together that came together.
    assert.deepEqual(waits.toSorted(), engine === 'sqlite' ? [30_000] : [30_000, 50_000])
  })
})
