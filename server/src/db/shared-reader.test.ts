import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { makeStorePlace, type StorePlace } from '../../test/harness/databases.ts'
import { Hearing } from './hearing.ts'
import { SharedReader } from './shared-reader.ts'

const missingTable = '42P01'

describe('look-ups that share a connection', () => {
  let place: StorePlace
  let others: pg.Client
  let reader: SharedReader
  before(async () => {
    place = await makeStorePlace('postgres')
    const config = { connectionString: place.databaseUrl as string }
    others = new pg.Client(config)
    await others.connect()
    const unexpected = (): never => assert.fail('no other connection is needed')
    reader = new SharedReader(
      config,
      { query: unexpected },
      { hearing: new Hearing(() => Promise.resolve()), onBroken: () => undefined, isPooled: false },
    )
  })
  after(async () => {
    await reader.close()
    await others.end()
    await place.remove()
  })

  const find = (id: string) => ({ name: 'find', text: 'SELECT id, tags FROM looked WHERE id = $1', values: [id] })

  test('fail each by what is wrong with it, and work once that is put right', async () => {
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
})
