import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useHolderSearch } from './event-loop/holders.ts'
import { listResets, sampleTableRequests } from './event-loop/requests.ts'
import { listSpecialRequests } from './event-loop/special-requests.ts'

describe('no request holds the event loop', () => {
  const { findHolders, faults, measureCalibration } = useHolderSearch()

  test('whatever the members of an operation are, and whatever its body is', async () => {
    // The long form sends everything to every operation.
    const requests = [...sampleTableRequests('wacid.unknown')]
    assert.ok(requests.length > 300, 'the tables were read')
    assert.deepEqual(await findHolders(requests), [])
  })

  test('whatever a session, a key, an event, a file or the head of a request is', async () => {
    assert.deepEqual(await findHolders(listSpecialRequests()), [])
  })

  test('no request to show a page or a document holds the event loop', async () => {
    const paths = [
      '/',
      '/docs',
      '/openapi.json',
      '/openapi-gateway.json',
      '/openapi-operator.json',
      '/metrics',
      '/readyz',
    ]
    const requests = paths.map((target) => ({ name: target, method: 'GET', target, headers: {} }))
    assert.deepEqual(await findHolders(requests), [])
    assert.equal(faults(), '')
  })

  // Last, because the store is another one then.
  test('no request to empty the store and apply a world as large as it may be, in text or as an object, holds the event loop', async () => {
    assert.deepEqual(await findHolders(listResets()), [])
    assert.equal(faults(), '')
  })

  test('the test of the event loop notices a request that holds it', async () => {
    const { turn, allowed } = await measureCalibration()
    assert.ok(turn > allowed, `${turn} ms of work were seen, where ${allowed} are allowed`)
  })
})
