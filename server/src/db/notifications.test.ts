import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { makeMigratedPlace, type StorePlace } from '../../test/harness/databases.ts'
import { endPool } from '../../test/harness/postgres.ts'
import { PostgresProxy } from '../../test/harness/postgres-proxy.ts'
import { until } from '../../test/harness/until.ts'
import { openNotifications } from './notifications.ts'

const channel = 'notices_test'

describe('notifications (postgres)', () => {
  let place: StorePlace
  let pool: pg.Pool
  before(async () => {
    place = await makeMigratedPlace('postgres')
    pool = new pg.Pool({ connectionString: place.databaseUrl, max: 1 })
  })
  after(async () => {
    await endPool(pool)
    await place.remove()
  })

  test('notifications are received on when a listener throws', async (t) => {
    const faults: string[] = []
    const notifications = openNotifications({
      connection: { connectionString: place.databaseUrl as string, Client: pg.Client },
      pool,
      prepareSession: async () => undefined,
      onListenerError: ({ message }) => faults.push(message),
    })
    const received: string[] = []
    const fail = (text: string) => {
      received.push(text)
      throw new Error(`fault of ${text}`)
    }
    const listening = notifications.listen(channel, fail, () => fail('a gap'))
    t.after(() => listening.close())
    await until(() => listening.isLive, 'it listens')
    await notifications.send(channel, 'one')
    await notifications.send(channel, 'two')
    await until(() => received.includes('two'), 'both were received')
    assert.deepEqual(received, ['a gap', 'one', 'two'])
    assert.deepEqual(faults, ['fault of a gap', 'fault of one', 'fault of two'])
    assert.equal(listening.isLive, true)
  })

  for (const step of ['prepared', 'asked to listen'] as const) {
    test(`notifications are received over a new connection when one goes silent while it is ${step}`, async (t) => {
      const proxy = await new PostgresProxy(place.databaseUrl as string).start()
      t.after(() => proxy.end())
      const connections = new Set<pg.Client>()
      const ended = new Set<pg.Client>()
      const notifications = openNotifications({
        connection: { connectionString: proxy.url, Client: pg.Client },
        pool,
        async prepareSession(client) {
          connections.add(client)
          client.on('end', () => ended.add(client))
          if (connections.size === 1) proxy.goSilent()
          if (step === 'prepared') await client.query('SELECT 1')
        },
        onListenerError: assert.fail,
      })
      const received: string[] = []
      const listening = notifications.listen(
        channel,
        (text) => received.push(text),
        () => undefined,
      )
      t.after(() => listening.close())
      await until(() => ended.size === 1, 'the silent connection was given up')
      proxy.speak()
      await until(() => listening.isLive, 'it listens again')
      await notifications.send(channel, 'after all')
      await until(() => received.length > 0, 'it receives again')
      assert.deepEqual(received, ['after all'])
    })
  }
})
