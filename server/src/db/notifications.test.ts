import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { makeMigratedPlace, type StorePlace } from '../../test/harness/databases.ts'
import { PostgresLine } from '../../test/harness/postgres-line.ts'
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
    await pool.end()
    await place.remove()
  })

  test('notifications are heard on when whoever hears one throws', async (t) => {
    const faults: string[] = []
    const notices = openNotifications({
      url: place.databaseUrl as string,
      pool,
      prepareSession: async () => undefined,
      onListenerError: ({ message }) => faults.push(message),
    })
    const heard: string[] = []
    const fail = (text: string) => {
      heard.push(text)
      throw new Error(`fault of ${text}`)
    }
    const listening = notices.listen(channel, fail, () => fail('a gap'))
    t.after(() => listening.close())
    await until(() => listening.isLive, 'it listens')
    await notices.send(channel, 'one')
    await notices.send(channel, 'two')
    await until(() => heard.includes('two'), 'both were heard')
    assert.deepEqual(heard, ['a gap', 'one', 'two'])
    assert.deepEqual(faults, ['fault of a gap', 'fault of one', 'fault of two'])
    assert.equal(listening.isLive, true)
  })

  for (const step of ['prepared', 'asked to listen'] as const) {
    test(`notifications are heard over a new connection when one goes silent while it is ${step}`, async (t) => {
      const line = await new PostgresLine(place.databaseUrl as string).start()
      t.after(() => line.end())
      const connections = new Set<pg.Client>()
      const ended = new Set<pg.Client>()
      const notices = openNotifications({
        url: line.url,
        pool,
        async prepareSession(client) {
          connections.add(client)
          client.on('end', () => ended.add(client))
          if (connections.size === 1) line.goSilent()
          if (step === 'prepared') await client.query('SELECT 1')
        },
        onListenerError: assert.fail,
      })
      const heard: string[] = []
      const listening = notices.listen(
        channel,
        (text) => heard.push(text),
        () => undefined,
      )
      t.after(() => listening.close())
      await until(() => ended.size === 1, 'the silent connection was given up')
      line.speak()
      await until(() => listening.isLive, 'it listens again')
      await notices.send(channel, 'after all')
      await until(() => heard.length > 0, 'it hears again')
      assert.deepEqual(heard, ['after all'])
    })
  }
})
