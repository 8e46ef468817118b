import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DatabaseBusy } from './database.ts'
import { limitsShare, Places } from './fair-semaphore.ts'

const generous = {
  places: 8,
  patience: 30_000,
  maxWaiting: 100,
  explainWait: async (message: string) => new DatabaseBusy('waited', message),
}

/**
 * Lets a share enter as often as it is let in at once, and says how often that was. The rest waits for ever, so the time-out must be
 * none of the process.
 */
async function fill(places: Places, share: string, times = 20): Promise<number> {
  let entered = 0
  for (let i = 0; i < times; i++) {
    places.enter(share).then(
      () => entered++,
      () => undefined,
    )
  }
  await nextTurn()
  return entered
}

test('no share takes all places: there is one for the next, and for the limits', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const places = new Places({ ...generous, maxWaiting: 1 })
  assert.deepEqual(
    [await fill(places, 'a'), await fill(places, 'b'), await fill(places, 'c'), await fill(places, limitsShare)],
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
    const places = new Places({ ...generous, places: size, maxWaiting: 1 })
    assert.equal(await fill(places, 'a'), expected, `of ${size}`)
  }
})

test('a place that becomes free goes to whoever holds the fewest, in turn', async () => {
  const places = new Places({ ...generous, places: 1 })
  await places.enter('a')
  const order: string[] = []
  const enter = async (share: string) => {
    await places.enter(share)
    order.push(share)
    await nextTurn()
    places.leave(share)
  }
  const all = Promise.all(['a', 'a', 'a', 'b', 'b', 'c'].map(enter))
  places.leave('a')
  await all
  assert.deepEqual(order, ['b', 'c', 'a', 'b', 'a', 'a'])
})

test('waiting is bounded in number and in time, and who was refused takes no place later', async () => {
  const places = new Places({ ...generous, places: 1, patience: 20, maxWaiting: 2 })
  await places.enter('a')
  const waiting = [places.enter('a'), places.enter('a')]
  const kindOf = (error: unknown) => (error as DatabaseBusy).kind
  await assert.rejects(places.enter('a'), (error) => error instanceof DatabaseBusy && kindOf(error) === 'crowded')
  for (const refused of await Promise.allSettled(waiting)) {
    assert.ok(refused.status === 'rejected' && kindOf(refused.reason) === 'waited')
  }
  places.leave('a')
  await places.enter('b')
  places.leave('b')
})
