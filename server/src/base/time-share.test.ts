import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TimeShare } from './time-share.ts'

function work(milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

test('work takes its share of the time at the most, one piece after the other, also when some fail', async () => {
  const share = new TimeShare(0.25)
  const spent: number[] = []
  const started = performance.now()
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) =>
      share.run(async () => {
        const begun = performance.now()
        work(4)
        spent.push(performance.now() - begun)
        if (index === 3) throw new Error('one of them')
        return index
      }),
    ),
  )
  const elapsed = performance.now() - started
  assert.deepEqual(
    results.map(({ status }) => status === 'fulfilled'),
    results.map((_, index) => index !== 3),
  )
  // The last does not wait behind itself.
  const counted = spent.slice(0, -1).reduce((sum, one) => sum + one, 0)
  assert.ok(elapsed >= counted * 4 * 0.95, `${counted} ms of work took ${elapsed} ms`)
})
