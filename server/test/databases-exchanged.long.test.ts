import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTests, runAgain } from './harness/run-again.ts'

test('what other runs try on one database works on the other one', async (t) => {
  const files = findTests(/\bonOneDatabase\(/)
  assert.ok(files.length > 10, files.join(' '))
  assert.ok((await runAgain(t, files, { TEST_DATABASES: 'swapped' })) > 100, 'they ran')
})
