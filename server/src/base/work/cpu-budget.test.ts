import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CpuBudget } from './cpu-budget.ts'

function work(milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

test('work takes its share of the time at the most, in order, also when some fail', async () => {
  const burst = 4
  const budget = new CpuBudget(0.25, burst)
  const order: number[] = []
  const started = performance.now()
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, async (_, index) =>
      budget.run(() => {
        order.push(index)
        work(4)
        if (index === 3) throw new Error('one of them')
      }),
    ),
  )
  const elapsed = performance.now() - started
  assert.deepEqual(
    results.map(({ status }) => status === 'fulfilled'),
    results.map((_, index) => index !== 3),
  )
  assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  // The last is not rested for.
  const rested = 9 * 4 - burst
  assert.ok(elapsed >= rested * 4 * 0.95, `40 ms of work took ${elapsed} ms`)
})

test('work for which there is time is done at once', () => {
  const budget = new CpuBudget(0.25)
  assert.deepEqual([budget.run(() => 1), budget.run(() => 2)], [1, 2])
})
