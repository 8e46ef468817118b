import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { type Stretch, scanInSteps } from './scan.ts'

describe('a scan in steps', () => {
  let now = 0
  beforeEach(() => {
    now = 0
    mock.method(performance, 'now', () => now)
  })
  afterEach(() => mock.restoreAll())

  /** Rows 1 to `count`, of which those fit that are in `fitting`; each look takes so many milliseconds. */
  function scan(count: number, fitting: readonly number[], limit: number, milliseconds: number, from?: number) {
    const looked: Stretch<number>[] = []
    const found = scanInSteps<number, number>({
      from,
      limit,
      findEdge: async (after = 0, distance) => (after + distance <= count ? after + distance : undefined),
      look: async (stretch, limit) => {
        looked.push(stretch)
        now += milliseconds
        const { from = 0, to = count } = stretch
        return fitting.filter((row) => row > from && row <= to).slice(0, limit)
      },
    })
    return found.then((result) => ({ ...result, looked }))
  }

  test('a scan in steps passes more rows at a time while they cost little, and finds what lies far apart', async () => {
    const { rows, reached, looked } = await scan(20_000, [1, 2000, 2001, 13_999, 19_999], 10, 1)
    assert.deepEqual(rows, [1, 2000, 2001, 13_999, 19_999])
    assert.equal(reached, undefined)
    assert.deepEqual(
      looked.map(({ to }) => to),
      [2000, 6000, 14_000, undefined],
    )
  })

  test('a scan in steps passes few at a time while they cost much', async () => {
    const { looked } = await scan(10_000, [], 10, 9)
    assert.deepEqual(
      looked.map(({ to }) => to),
      [2000, 4000, 6000, 8000, 10_000, undefined],
    )
  })

  test('a scan in steps ends when there are enough', async () => {
    const { rows, reached, looked } = await scan(20_000, [1, 2, 3, 4], 3, 1)
    assert.deepEqual([rows, reached, looked.length], [[1, 2, 3], undefined, 1])
  })

  test('a scan in steps ends when it took too long, and says how far it looked; from there it goes on', async () => {
    const first = await scan(10_000, [1, 5000, 9000], 10, 1000)
    assert.deepEqual([first.rows, first.reached], [[1], 4000])
    const second = await scan(10_000, [1, 5000, 9000], 10, 1000, first.reached)
    assert.deepEqual([second.rows, second.reached], [[5000], 8000])
    const third = await scan(10_000, [1, 5000, 9000], 10, 1000, second.reached)
    assert.deepEqual([third.rows, third.reached], [[9000], undefined])
  })

  test('a scan in steps takes turns with others, and goes on when one of them fails', async () => {
    const order: string[] = []
    const failing = scanInSteps<number, number>({
      from: undefined,
      limit: 1,
      findEdge: async () => {
        throw new Error('no')
      },
      look: async () => [],
    })
    const slow = (name: string) =>
      scanInSteps<number, number>({
        from: undefined,
        limit: 1,
        findEdge: async (after = 0) => {
          order.push(name)
          return after < 2 ? after + 1 : undefined
        },
        look: async () => [],
      })
    const both = Promise.all([slow('a'), slow('b')])
    await assert.rejects(failing, /^Error: no$/)
    await both
    assert.deepEqual(order, ['a', 'b', 'a', 'b', 'a', 'b'])
  })
})
