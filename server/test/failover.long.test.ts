import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listLosses, runFailover, tabulate } from './harness/failover/run.ts'

/** The quick kinds, and one that takes longer than a time to live; `npm run failover` has all. */
const kinds = [
  'killed during a migration',
  'switchover',
  'killed without object storage',
  'killed with a frozen worker',
  'primary cut off from all but clients',
]

test('a service whose database fails over loses nothing that it acknowledged, and comes back without a hand', async (t) => {
  const report = (line: string) => t.diagnostic(line)
  const { ledger, disturbances } = await runFailover({ times: kinds.length, seed: 20_261_118, kinds, report })
  for (const line of [...tabulate(disturbances), JSON.stringify(ledger)]) report(line)
  assert.deepEqual(listLosses(ledger), [])
  assert.ok(ledger.published > 200 && ledger.sent > 50 && ledger.files > 10 && ledger.written > 10, 'enough was tried')
  assert.ok(ledger.refused + ledger.brokenOff > 0, 'somebody noticed')
})
