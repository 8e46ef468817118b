import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { makeMigratedPlace, type StorePlace } from '../../test/harness/databases.ts'
import { until } from '../../test/harness/until.ts'
import { openNotices } from './notices.ts'

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

  test('are heard on when whoever hears one throws', async (t) => {
    const faults: string[] = []
    const notices = openNotices({
      url: place.databaseUrl as string,
      pool,
      prepareSession: async () => undefined,
      onHearerError: ({ message }) => faults.push(message),
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
})
