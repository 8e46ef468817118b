import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTests, runAgain } from './harness/run-again.ts'

test('what other runs try with few of everything works with many, and in time', async (t) => {
  const files = findTests(/harness\/form\.ts/)
  assert.ok(files.length > 10, files.join(' '))
  assert.ok((await runAgain(t, files, { TEST_FORM: 'long' })) > 100, 'they ran')
})
