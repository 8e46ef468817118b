import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { WorkGroups } from './work-groups.ts'

/** Groups whose sizes are noted, and that are done at once. */
function startGroups() {
  const sizes: number[] = []
  const groups = new WorkGroups<number, number>({
    doAlone: async (work) => work,
    doTogether: async (works) => {
      sizes.push(works.length)
      return works.map((outcome) => ({ outcome }))
    },
    isOutage: () => false,
    makeBusy: (_, message) => new Error(message),
    timeoutMs: 1000,
  })
  const take = (count: number) => Promise.all(Array.from({ length: count }, (_, work) => groups.take('key', work)))
  return { sizes, take }
}

/** Long enough for whatever does not wait for a timer. */
async function passTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn()
}

describe('works of one moment', () => {
  test('works of one moment are one group, and wait until as many have come again', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { sizes, take } = startGroups()
    assert.deepEqual(await take(10), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    const first = take(5)
    await passTurns()
    assert.deepEqual(sizes, [10])
    await Promise.all([first, take(5)])
    assert.deepEqual(sizes, [10, 10])
  })

  test('works of one moment wait for a while only, and those after them do not wait where it was in vain', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { sizes, take } = startGroups()
    await take(10)
    const few = take(5)
    await passTurns()
    t.mock.timers.tick(12)
    await few
    await take(3)
    assert.deepEqual(sizes, [10, 5, 3])
  })

  test('works of one moment do not wait for others where there were only a few', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { sizes, take } = startGroups()
    await take(7)
    await take(3)
    assert.deepEqual(sizes, [7, 3])
  })
})
