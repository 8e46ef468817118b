import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTests, runAgain } from './harness/run-again.ts'

/** What tests do that look at stored files. */
const looksAtFiles = /\bfiles\.(list|has|read|lose|listPieces|leavePiece|settings)\b|\btakeStock\(|\bmakeKeptFiles\(/

/** In other runs SQLite goes with the disk and PostgreSQL with object storage. */
test('everything that stores files works with SQLite and object storage, and with PostgreSQL and the disk', async (t) => {
  const files = findTests(looksAtFiles)
  assert.ok(files.length > 12, files.join(' '))
  assert.ok((await runAgain(t, files, { TEST_STORAGE: 'swapped' })) > 100, 'they ran')
})
