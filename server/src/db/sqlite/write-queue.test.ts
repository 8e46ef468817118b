import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useTestDatabase } from '../../../test/harness/databases.ts'
import type { Transaction } from '../database.ts'

describe('transactions that are committed together', () => {
  const held = useTestDatabase('sqlite')

  /** All at one moment; `no…` fails after its write. */
  const runAll = async (...keys: readonly string[]) => {
    const runs: string[] = []
    const settled = await Promise.allSettled(
      keys.map((key) => {
        const work = async ({ query }: Transaction) => {
          runs.push(key)
          await query.insertInto('rate_windows').values({ key, taken: 1, end_time: 1 }).execute()
          if (key.startsWith('no')) throw new Error(key)
          return key
        }
        return held.database.transaction(work)
      }),
    )
    const results = settled.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error).message))
    const rows = await held.database.read.query.selectFrom('rate_windows').select('key').orderBy('key').execute()
    return { runs, results, rows: rows.map(({ key }) => key).filter((key) => keys.includes(key)) }
  }

  test('transactions that are committed together are each run once, in their order', async () => {
    const keys = ['a1', 'b1', 'c1']
    assert.deepEqual(await runAll(...keys), { runs: keys, results: keys, rows: keys })
  })

  test('transactions that are committed together are refused each by itself, and leave nothing then', async () => {
    const keys = ['a2', 'no2', 'b2', 'no-c2']
    assert.deepEqual(await runAll(...keys), { runs: keys, results: keys, rows: ['a2', 'b2'] })
    assert.deepEqual(await runAll('no3', 'a3'), { runs: ['no3', 'a3'], results: ['no3', 'a3'], rows: ['a3'] })
  })
})
