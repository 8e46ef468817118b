import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DatabaseBusy } from './database.ts'
import { FairSemaphore, limitsKey } from './fair-semaphore.ts'

const generous = {
  places: 8,
  timeoutMs: 30_000,
  maxWaiting: 100,
  classifyTimeout: async (message: string) => new DatabaseBusy('waited', message),
}

/**
 * Lets a share enter as often as it is let in at once, and says how often that was. The rest waits for ever, so the time-out must be
 * none of the process.
 */
async function fill(semaphore: FairSemaphore, share: string, times = 20): Promise<number> {
  let entered = 0
  for (let i = 0; i < times; i++) {
    semaphore.acquire(share).then(
      () => entered++,
      () => undefined,
    )
  }
  await nextTurn()
  return entered
}

test('no share takes all places: there is one for the next, and for the limits', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const semaphore = new FairSemaphore({ ...generous, maxWaiting: 1 })
  assert.deepEqual(
    [
      await fill(semaphore, 'a'),
      await fill(semaphore, 'b'),
      await fill(semaphore, 'c'),
      await fill(semaphore, limitsKey),
    ],
    [5, 2, 0, 1],
  )
})

test('however few places there are, the first who comes gets one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (const [size, expected] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 2],
  ] as const) {
    const semaphore = new FairSemaphore({ ...generous, places: size, maxWaiting: 1 })
    assert.equal(await fill(semaphore, 'a'), expected, `of ${size}`)
  }
})

test('a place that becomes free goes to whoever holds the fewest, in turn', async () => {
  const semaphore = new FairSemaphore({ ...generous, places: 1 })
  await semaphore.acquire('a')
  const order: string[] = []
  const enter = async (share: string) => {
    await semaphore.acquire(share)
    order.push(share)
    await nextTurn()
    semaphore.release(share)
  }
  const all = Promise.all(['a', 'a', 'a', 'b', 'b', 'c'].map(enter))
  semaphore.release('a')
  await all
  assert.deepEqual(order, ['b', 'c', 'a', 'b', 'a', 'a'])
})

test('waiting is bounded in number and in time, and who was refused takes no place later', async () => {
  const semaphore = new FairSemaphore({ ...generous, places: 1, timeoutMs: 20, maxWaiting: 2 })
  await semaphore.acquire('a')
  const waiting = [semaphore.acquire('a'), semaphore.acquire('a')]
  const kindOf = (error: unknown) => (error as DatabaseBusy).kind
  await assert.rejects(semaphore.acquire('a'), (error) => error instanceof DatabaseBusy && kindOf(error) === 'crowded')
  for (const refused of await Promise.allSettled(waiting)) {
    assert.ok(refused.status === 'rejected' && kindOf(refused.reason) === 'waited')
  }
  semaphore.release('a')
  await semaphore.acquire('b')
  semaphore.release('b')
})
