import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runDrill } from './harness/drill/run.ts'
import { forms } from './harness/drill/site.ts'

for (const form of forms) {
  test(`a store that is restored from a backup has what was acknowledged before it, and repeats webhooks under the ids that they had: ${form}`, async (t) => {
    const ledger = await runDrill({ form, seed: 20_261_118, report: (line) => t.diagnostic(line) })
    t.diagnostic(JSON.stringify(ledger))
    const { events, lostEvents, files, lostFiles, waiting, sentWhileHeld, repeated } = ledger
    assert.deepEqual([lostEvents.before, lostFiles.before], [0, 0])
    assert.deepEqual(
      [lostEvents.after, lostFiles.after],
      [events.after, files.after],
      'nothing of after the copy is in it',
    )
    assert.equal(sentWhileHeld, 0)
    assert.ok(
      waiting > 0 && repeated > 0 && repeated <= waiting,
      `${repeated} of the ${waiting} that waited came again`,
    )
    assert.ok(events.before > 100 && events.after > 50 && files.before > 5 && files.after > 2, 'enough was tried')
  })
}
