import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSoak } from './soak/run.ts'

/** Minutes of it: `npm run soak`. */
test('some seconds of reads, writes, events and uploads leave no memory, handle or file behind', async (t) => {
  const { growth, done, measured, faults } = await runSoak({ engine: 'sqlite', seconds: 3, measurements: 6 })
  assert.equal(faults, '')
  assert.deepEqual(growth, [])
  assert.equal(done.size, 8, 'everything was done')
  for (const [name, count] of done) assert.ok(count >= 5, `${count} ${name}`)
  const [first, last] = [measured[0], measured.at(-1)]
  t.diagnostic(`heap ${first?.heap} → ${last?.heap}, handles ${first?.handles} → ${last?.handles}`)
  t.diagnostic([...done].map(([name, count]) => `${count} ${name}`).join(', '))
})
