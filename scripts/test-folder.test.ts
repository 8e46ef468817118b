import assert from 'node:assert/strict'
import { readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { makeTestFolder } from './test-folder.ts'

test('everybody may make folders in the folder of the tests, and it is empty', async (t) => {
  const folder = await makeTestFolder()
  t.after(() => rm(folder, { recursive: true }))
  assert.equal((await stat(folder)).mode & 0o7777, 0o1777)
  assert.deepEqual(await readdir(folder), [])
})

test('the folder of the tests is in the usual place where there is no file system in memory', async (t) => {
  const folder = await makeTestFolder(join(tmpdir(), 'switchboard-missing'))
  t.after(() => rm(folder, { recursive: true }))
  assert.equal(dirname(folder), tmpdir())
})
