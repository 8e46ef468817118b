import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useHolderSearch } from './event-loop/holders.ts'
import { listTableRequests } from './event-loop/requests.ts'

describe('no request holds the event loop', () => {
  const { findHolders, faults } = useHolderSearch()

  test('whatever the members of an operation are, and whatever its body is, at every operation', async () => {
    const requests = [...listTableRequests('wacid.unknown')]
    assert.ok(requests.length > 600, 'the tables were read')
    assert.deepEqual(await findHolders(requests), [])
    assert.equal(faults(), '')
  })
})
