import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { makeMigratedStore, type OpenStore, onBothDatabases } from '../../test/harness/databases.ts'
import { readStolenBytes } from '../../test/harness/secret-search.ts'
import { silentLog } from '../base/log/log.ts'
import { ManualClock } from '../base/time/clock.ts'
import { fullTrust } from '../base/time/clock-trust.ts'
import { hour } from '../base/time/duration.ts'
import type { Database, Transaction } from '../db/database.ts'
import { Sweeper, type SweeperDeps } from './sweeper.ts'

onBothDatabases('removing old rows', (engine) => {
  const names = ['amber', 'basalt', 'cobalt', 'dolomite', 'emerald'].map((name) => `${name} zeppelin`)
  let store: OpenStore
  before(async () => {
    store = await makeMigratedStore(engine, new ManualClock(0))
  })
  after(async () => {
    await store.database.close()
    await store.place.remove()
  })
  beforeEach(async () => {
    const rows = names.map((name) => ({ name, wanted_until: 0 }))
    await store.database.transaction(async ({ query }) => {
      await query.deleteFrom('wanted_streams').execute()
      await query.insertInto('wanted_streams').values(rows).execute()
    })
  })

  function makeSweeper(deps: Partial<SweeperDeps> = {}): Sweeper {
    const options = { sweep: async () => undefined, every: hour, failure: 'not swept' }
    return new Sweeper({ database: store.database, log: silentLog, ...deps }, options)
  }

  const list = async () => {
    const rows = await store.database.read.query.selectFrom('wanted_streams').select('name').orderBy('name').execute()
    return rows.map(({ name }) => name)
  }

  async function removeTwo({ query }: Transaction): Promise<number> {
    const two = query.selectFrom('wanted_streams').select('name').orderBy('name').limit(2)
    return (await query.deleteFrom('wanted_streams').where('name', 'in', two).returning('name').execute()).length
  }

  const fail = (reason: string) => async () => {
    throw new Error(reason)
  }

  test('removing old rows goes on in steps until nothing is left, of which no byte stays', async () => {
    const bytes = async () => readStolenBytes({ ...store.place, engine }, store.database)
    const before = await bytes()
    assert.ok(names.every((name) => before.includes(name)))
    const removed: number[] = []
    const sweeper = makeSweeper()
    const remove = async (tx: Transaction) => {
      const count = await removeTwo(tx)
      removed.push(count)
      return count
    }
    await sweeper.run([() => sweeper.inSteps(remove)])
    assert.deepEqual(removed, [2, 2, 1, 0])
    const left = await bytes()
    assert.deepEqual(
      names.filter((name) => left.includes(name)),
      [],
    )
  })

  test('a part that fails keeps no other from running; its error is thrown at the end', async () => {
    const sweeper = makeSweeper()
    const parts = [fail('one'), () => sweeper.inSteps(removeTwo), fail('two')]
    await assert.rejects(sweeper.run(parts), /^Error: one$/)
    assert.deepEqual(await list(), [])
  })

  test('removing old rows without a database ends at the first failure', async () => {
    const database: Database = { ...store.database, outageOf: () => 'unreachable' }
    const sweeper = makeSweeper({ database })
    await assert.rejects(sweeper.run([fail('gone'), () => sweeper.inSteps(removeTwo)]), /^Error: gone$/)
    assert.deepEqual(await list(), names)
  })

  test('nothing goes by a clock that may be wrong, nor after the stop', async () => {
    const distrusting = makeSweeper({ trust: { ...fullTrust, mayDelete: () => false } })
    const stopped = makeSweeper()
    await stopped.stop()
    for (const sweeper of [distrusting, stopped]) await sweeper.run([() => sweeper.inSteps(removeTwo)])
    assert.deepEqual(await list(), names)
  })
})
