import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeSize } from './sizes.ts'

test('sizes are written with as many digits as one reads', () => {
  assert.deepEqual([0, 812, 1234, 14_400, 1_234_567].map(writeSize), ['0 B', '812 B', '1.2 kB', '14 kB', '1.2 MB'])
})
