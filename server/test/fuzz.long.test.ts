import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findGrowth, findUnreached, writeFailure } from './fuzz/report.ts'
import { runFuzz } from './fuzz/run.ts'

const seed = 20_260_601

describe('a server that is fuzzed', () => {
  // `npm run fuzz -- --requests 50000 --seed S` sends many. Fewer requests reach fewer operations; on SQLite they are enough for the
  // memory of a server that has just started to stop growing before it is compared.
  for (const { engine, requests, maxUnreached } of [
    { engine: 'sqlite', requests: 4800, maxUnreached: 1 / 2 },
    { engine: 'postgres', requests: 300, maxUnreached: 2 / 3 },
  ] as const) {
    test(`a server that is fuzzed answers as documented, keeps nothing, and stops (${engine})`, async () => {
      const result = await runFuzz({ engine, requests, seed })
      const failures = result.failures.map((failure) => writeFailure(result.url, seed, failure))
      assert.deepEqual(failures, [], result.faults)
      assert.deepEqual(findGrowth(result.memory), [])
      const met = result.operations.filter(({ name }) => result.answers.has(name))
      assert.equal(met.length, result.operations.length, 'every operation was called')
      const unreached = findUnreached(result).map(({ name }) => name)
      const share = unreached.length / result.operations.length
      assert.ok(share <= maxUnreached, `too few operations did anything: not ${unreached}`)
    })
  }
})
