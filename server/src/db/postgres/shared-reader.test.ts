import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { makeStorePlace, type StorePlace } from '../../../test/harness/databases.ts'
import { until } from '../../../test/harness/until.ts'
import { LivenessProbe } from './liveness-probe.ts'
import { SharedReader } from './shared-reader.ts'

const missingTable = '42P01'

describe('look-ups that share a connection', () => {
  let place: StorePlace
  let others: pg.Client
  let reader: SharedReader
  before(async () => {
    place = await makeStorePlace('postgres')
    const config = { connectionString: place.databaseUrl as string, Client: pg.Client }
    others = new pg.Client(config)
    await others.connect()
    const unexpected = (): never => assert.fail('no other connection is needed')
    reader = new SharedReader(
      config,
      { query: unexpected },
      {
        probe: new LivenessProbe(() => Promise.resolve()),
        onBroken: () => undefined,
        prepareSession: () => Promise.resolve(),
      },
    )
  })
  after(async () => {
    await reader.close()
    await others.end()
    await place.remove()
  })

  const find = (id: string) => ({ name: 'find', text: 'SELECT id, tags FROM looked WHERE id = $1', values: [id] })

  test('look-ups that share a connection fail each by what is wrong with it, and work once that is put right', async () => {
    for (const outcome of await Promise.allSettled(['1', '2', '3'].map((id) => reader.query(find(id))))) {
      assert.equal(outcome.status === 'rejected' && outcome.reason.code, missingTable)
    }
    await others.query("CREATE TABLE looked (id TEXT, tags JSONB); INSERT INTO looked VALUES ('1', '[]'), ('2', '[]')")
    const found = await Promise.all(['1', '2', '3'].map((id) => reader.query(find(id))))
    assert.deepEqual(
      found.map(({ rows }) => rows.map(({ id }) => id)),
      [['1'], ['2'], []],
    )
  })

  test('look-ups that share a connection fail when their connection is lost, and the next one has another', async () => {
    const backend = { text: 'SELECT pg_backend_pid() AS pid' }
    const pid = (await reader.query(backend)).rows[0]?.['pid']
    const waiting = Promise.allSettled([reader.query({ text: 'SELECT pg_sleep(60)' }), reader.query(backend)])
    const isAsleep = async () => {
      const { rows } = await others.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'", [
        pid,
      ])
      return rows.length > 0
    }
    await until(isAsleep, 'it waits')
    await others.query('SELECT pg_terminate_backend($1)', [pid])
    assert.deepEqual(
      (await waiting).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    const next = (await reader.query(backend)).rows[0]?.['pid']
    assert.notEqual(next, pid)
    // Nothing counts as under way any more: look-ups would be sent elsewhere after a while.
    const asleep = { text: 'SELECT pg_sleep(0.3)' }
    await reader.query(asleep)
    assert.equal((await reader.query(backend)).rows[0]?.['pid'], next)
  })
})
