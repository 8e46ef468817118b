import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { keepDurations, orderFiles, readDurations } from './test-order.ts'

test('durations of the last run decide; what needs a browser is not begun first', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'switchboard-test-order-'))
  t.after(() => rm(root, { recursive: true }))
  await mkdir(join(root, 'node_modules'))
  for (const [name, text] of [
    ['a.test.ts', ''],
    ['b.test.ts', "import 'node:child_process'"],
    ['c.test.ts', "import './harness/browser.ts'"],
  ] as const) {
    await writeFile(join(root, name), text)
  }
  const files = ['a.test.ts', 'b.test.ts', 'c.test.ts']
  assert.deepEqual(await orderFiles(root, files), ['b.test.ts', 'c.test.ts', 'a.test.ts'])
  await keepDurations(root, { 'a.test.ts': 50 })
  await keepDurations(root, { 'b.test.ts': 20 })
  assert.deepEqual(await readDurations(root), { 'a.test.ts': 50, 'b.test.ts': 20 })
  assert.deepEqual(await orderFiles(root, files), ['a.test.ts', 'c.test.ts', 'b.test.ts'])
  await writeFile(join(root, 'node_modules', '.durations'), '{')
  assert.deepEqual(await orderFiles(root, files), ['b.test.ts', 'c.test.ts', 'a.test.ts'])
})
