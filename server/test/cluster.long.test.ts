import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCluster } from './harness/cluster/run.ts'

test('a whole cluster loses nothing that it acknowledged, whichever of its parts is killed', async (t) => {
  const ledger = await runCluster({ kills: 12, seed: 20_261_115, report: (line) => t.diagnostic(line) })
  t.diagnostic(JSON.stringify(ledger))
  assert.equal(ledger.delivered, ledger.published)
  assert.equal(ledger.filesRead, ledger.files)
  assert.ok(ledger.published > 50 && ledger.files > 10 && ledger.written > 10, 'enough was tried')
})
