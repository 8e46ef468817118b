import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findGrowth, findUnreached, writeFailure } from './fuzz/report.ts'
import { runFuzz } from './fuzz/run.ts'

const seed = 20_260_601

describe('a server that is fuzzed', () => {
  /** A few; `npm run fuzz -- --requests 50000 --seed S` sends many. */
  for (const [engine, requests] of [
    ['sqlite', 800],
    ['postgres', 300],
  ] as const) {
    test(`answers as documented, keeps nothing, and stops (${engine})`, async () => {
      const result = await runFuzz({ engine, requests, seed })
      const failures = result.failures.map((failure) => writeFailure(result.url, seed, failure))
      assert.deepEqual(failures, [], result.faults)
      assert.deepEqual(findGrowth(result.memory), [])
      const met = result.operations.filter(({ name }) => result.answers.has(name))
      assert.equal(met.length, result.operations.length, 'every operation was called')
      const unreached = findUnreached(result).map(({ name }) => name)
      assert.ok(unreached.length <= result.operations.length / 2, `too few operations did anything: not ${unreached}`)
    })
  }
})
