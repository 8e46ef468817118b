import assert from 'node:assert/strict'
import { test } from 'node:test'
import { walkInSteps } from './walk.ts'

const rows = Array.from({ length: 130 }, (_, index) => index)

/** Walks through all rows, and lists how many were taken at once. */
async function walk({ size = 50, longest = undefined as number | undefined, cost = 0 }): Promise<number[]> {
  const taken: number[][] = []
  await walkInSteps<number>({
    list: async (after = -1) => rows.slice(after + 1, after + 1 + size),
    async take(some) {
      taken.push([...some])
      const end = performance.now() + some.length * cost
      while (performance.now() < end);
    },
    size,
    ...(longest !== undefined && { longest }),
    isStopped: () => false,
  })
  assert.deepEqual(taken.flat(), rows, 'each row once, in order')
  return taken.map(({ length }) => length)
}

test('a walk takes all that it listed at once where nobody waits for it', async () => {
  assert.deepEqual(await walk({ cost: 0.1 }), [50, 50, 30])
})

test('a walk begins with few rows, and takes more where they cost little', async () => {
  assert.deepEqual(await walk({ longest: 10_000 }), [16, 32, 2, 50, 30])
})

test('a walk takes as few rows at once as their cost demands', async () => {
  const [first, ...others] = await walk({ longest: 8, cost: 1 })
  assert.equal(first, 16)
  assert.ok(
    others.every((length) => length <= 8),
    `${others}`,
  )
})

test('a walk goes on with one row at once where each takes too long', async () => {
  const [, ...others] = await walk({ longest: 0.5, cost: 1 })
  assert.deepEqual(new Set(others), new Set([1]))
})

test('a walk ends between two parts of what it listed', async () => {
  let count = 0
  await walkInSteps<number>({
    list: async () => rows,
    async take({ length }) {
      count += length
    },
    size: rows.length,
    longest: 10_000,
    isStopped: () => count >= 16,
  })
  assert.equal(count, 16)
})
