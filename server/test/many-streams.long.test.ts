import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { minute } from '../src/base/time/duration.ts'
import { onBothDatabases } from './harness/databases.ts'
import { messageSides } from './harness/messages.ts'
import { useTestServer } from './harness/server.ts'
import { measureUntilGood } from './harness/stolen-time.ts'
import { until } from './harness/until.ts'
import { numbers, tokens } from './harness/world.ts'
import type { Order } from './streams/client.ts'

const listeners = 200
const sends = 400
const rounds = 7
/** Up to 1.2 is usual: writes to sockets. Where each event was written down for every phone it was 1.9 on SQLite. */
const mostCost = 1.4
/** Of each message: itself, that it was sent, and that it was delivered. */
const eventsOfMessage = 3

onBothDatabases('many streams', (engine) => {
  const server = useTestServer({ engine, env: { MAX_CONNECTIONS_PER_ADDRESS: '1000' } })

  test(`sending takes little more of the processor with ${listeners} phones that listen`, async (t) => {
    const sides = messageSides(server)
    const users = Array.from({ length: listeners }, () => sides.newUser())
    for (const user of users) await sides.write(user)
    const start = () => {
      const child = fork(fileURLToPath(new URL('streams/client.ts', import.meta.url)), {
        execArgv: ['--disable-warning=ExperimentalWarning'],
      })
      t.after(() => child.kill())
      return child
    }
    const ask = async (child: ChildProcess, order: Order): Promise<number> => {
      child.send(order)
      return (await once(child, 'message'))[0]
    }
    const [business, phones] = [start(), start()]

    const to = Array.from({ length: sends }, (_, index) => users[index % listeners] ?? '')
    const url = `${server.url}/v23.0/${numbers.main}/messages`
    /** The processor time of the server, in milliseconds: how long it takes depends more on what else the machine does. */
    async function measure(): Promise<number> {
      const before = process.cpuUsage()
      await ask(business, { do: 'send', url, token: tokens.owner, to })
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    }
    await measure()
    await measure()
    let expected = 0
    await measureUntilGood(t, async () => {
      const ratios: number[] = []
      // In turns: the machine is not as fast all the time.
      for (let round = 0; round < rounds; round++) {
        // A stream begins with what came in the last seconds, and the clock of the tests stands still: that would be all rounds before.
        server.clock.advance(minute)
        const alone = await measure()
        await ask(phones, { do: 'listen', url: server.url, token: tokens.gateway, users })
        const heard = await measure()
        expected += sends * eventsOfMessage
        await until(async () => (await ask(phones, { do: 'count' })) >= expected, 'every phone has heard everything')
        await ask(phones, { do: 'hush' })
        ratios.push(heard / alone)
      }
      const ratio = ratios.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN
      const text = `the processor times with and without listeners: ${ratios.map((one) => one.toFixed(2)).join(', ')}`
      return { isGood: ratio < mostCost, text }
    })
    assert.equal(await ask(phones, { do: 'count' }), expected)
  })
})
