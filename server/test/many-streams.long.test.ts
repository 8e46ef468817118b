import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { onBothDatabases } from './harness/databases.ts'
import { messageSides } from './harness/messages.ts'
import { useTestServer } from './harness/server.ts'
import { until } from './harness/until.ts'
import { numbers, tokens } from './harness/world.ts'
import type { Order } from './streams/client.ts'

const listeners = 200
const sends = 400
const rounds = 5
/** Of each message: itself, that it was sent, and that it was delivered. */
const eventsOfMessage = 3

onBothDatabases('many streams', (engine) => {
  const server = useTestServer({ engine, env: { MAX_CONNECTIONS_PER_ADDRESS: '1000' } })

  test(`with ${listeners} phones that listen, sending takes at most a fifth longer`, async (t) => {
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
    async function measure(): Promise<{ took: number; cpu: number }> {
      const before = process.cpuUsage()
      const took = await ask(business, { do: 'send', url, token: tokens.owner, to })
      const { user, system } = process.cpuUsage(before)
      return { took, cpu: (user + system) / 1000 }
    }
    await measure()
    await measure()
    const alone = []
    for (let i = 0; i < rounds; i++) alone.push(await measure())
    await ask(phones, { do: 'listen', url: server.url, token: tokens.gateway, users })
    const heard = []
    for (let i = 0; i < rounds; i++) heard.push(await measure())
    const least = (times: readonly { took: number; cpu: number }[], of: 'took' | 'cpu') =>
      Math.min(...times.map((one) => one[of]))
    const ratio = least(heard, 'took') / least(alone, 'took')
    t.diagnostic(
      `${sends} sends on ${engine}: ${least(alone, 'took').toFixed(0)} ms, with ${listeners} listeners ${least(heard, 'took').toFixed(0)} ms: ${ratio.toFixed(2)}; processor ${least(alone, 'cpu').toFixed(0)} and ${least(heard, 'cpu').toFixed(0)} ms`,
    )
    const expected = rounds * sends * eventsOfMessage
    await until(async () => (await ask(phones, { do: 'count' })) >= expected, 'every phone has heard everything')
    assert.equal(await ask(phones, { do: 'count' }), expected)
    assert.ok(ratio < 1.2, String(ratio))
  })
})
