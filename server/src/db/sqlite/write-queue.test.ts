import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useTestDatabase } from '../../../test/harness/databases.ts'
import type { Transaction } from '../database.ts'

describe('transactions that are committed together', () => {
  const held = useTestDatabase('sqlite')

  /** All at one moment; `no…` fails after its write, `once…` may not be repeated. */
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
        return held.database.transaction(work, { mayRepeat: !key.startsWith('once') })
      }),
    )
    const results = settled.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error).message))
    const rows = await held.database.read.query.selectFrom('rate_windows').select('key').orderBy('key').execute()
    return { runs, results, rows: rows.map(({ key }) => key).filter((key) => keys.includes(key)) }
  }

  test('transactions that are committed together are each run once where none fails', async () => {
    const keys = ['a1', 'b1', 'once1']
    assert.deepEqual(await runAll(...keys), { runs: keys, results: keys, rows: keys })
  })

  test('transactions that are committed together are run again where one fails, and that one alone is refused', async () => {
    assert.deepEqual(await runAll('a2', 'no2', 'b2'), {
      runs: ['a2', 'no2', 'a2', 'no2', 'b2'],
      results: ['a2', 'no2', 'b2'],
      rows: ['a2', 'b2'],
    })
  })

  test('transactions that are committed together have savepoints for a while after a failure', async () => {
    const keys = ['a3', 'no3', 'b3']
    assert.deepEqual(await runAll('x3'), { runs: ['x3'], results: ['x3'], rows: ['x3'] })
    assert.deepEqual(await runAll(...keys), {
      runs: ['a3', 'no3', 'a3', 'no3', 'b3'],
      results: keys,
      rows: ['a3', 'b3'],
    })
    assert.deepEqual(await runAll('c3', 'no-d3', 'e3'), {
      runs: ['c3', 'no-d3', 'e3'],
      results: ['c3', 'no-d3', 'e3'],
      rows: ['c3', 'e3'],
    })
  })

  test('transactions that are committed together are never repeated where one of them may not be', async () => {
    for (let group = 0; group < 8; group++) await runAll(`f${group}`, `g${group}`)
    assert.deepEqual(await runAll('a4', 'once4', 'no4', 'b4'), {
      runs: ['a4', 'once4', 'no4', 'b4'],
      results: ['a4', 'once4', 'no4', 'b4'],
      rows: ['a4', 'b4', 'once4'],
    })
  })
})
