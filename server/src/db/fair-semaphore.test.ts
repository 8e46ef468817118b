import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DatabaseBusy } from './database.ts'
import { FairSemaphore, limitsFairnessKey } from './fair-semaphore.ts'

const generous = {
  slots: 8,
  timeoutMs: 30_000,
  maxWaiting: 100,
  classifyTimeout: async (message: string) => new DatabaseBusy('waited', message),
}

/**
 * Acquires slots for one key, and returns how many it got at once. The rest waits for ever, so the timeout must not be a real timer of
 * the process.
 */
async function fill(semaphore: FairSemaphore, key: string, times = 20): Promise<number> {
  let acquired = 0
  for (let i = 0; i < times; i++) {
    semaphore.acquire(key).then(
      () => acquired++,
      () => undefined,
    )
  }
  await nextTurn()
  return acquired
}

test('no fairness key takes all slots: there is one for the next, and for the limits', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const semaphore = new FairSemaphore({ ...generous, maxWaiting: 1 })
  assert.deepEqual(
    [
      await fill(semaphore, 'a'),
      await fill(semaphore, 'b'),
      await fill(semaphore, 'c'),
      await fill(semaphore, limitsFairnessKey),
    ],
    [5, 2, 0, 1],
  )
})

test('however few slots a fair semaphore has, the first who comes gets one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (const [size, expected] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 2],
  ] as const) {
    const semaphore = new FairSemaphore({ ...generous, slots: size, maxWaiting: 1 })
    assert.equal(await fill(semaphore, 'a'), expected, `of ${size}`)
  }
})

test('a slot that becomes free goes to whoever holds the fewest, in turn', async () => {
  const semaphore = new FairSemaphore({ ...generous, slots: 1 })
  await semaphore.acquire('a')
  const order: string[] = []
  const useSlot = async (key: string) => {
    await semaphore.acquire(key)
    order.push(key)
    await nextTurn()
    semaphore.release(key)
  }
  const all = Promise.all(['a', 'a', 'a', 'b', 'b', 'c'].map(useSlot))
  semaphore.release('a')
  await all
  assert.deepEqual(order, ['b', 'c', 'a', 'b', 'a', 'a'])
})

test('waiting is bounded in number and in time, and who was refused takes no slot later', async () => {
  const semaphore = new FairSemaphore({ ...generous, slots: 1, timeoutMs: 20, maxWaiting: 2 })
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
