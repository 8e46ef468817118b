import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, test } from 'node:test'
import { divide, groupFiles, keepDurations, readDurations } from './test-groups.ts'

const many = Array.from({ length: 200 }, (_, index) => ({ file: `${index}.test.ts`, seconds: index < 20 ? 30 : 2 }))
const secondsOf = new Map(many.map(({ file, seconds }) => [file, seconds]))
const sum = (group: readonly string[]) => group.reduce((total, file) => total + (secondsOf.get(file) ?? 0), 0)

describe('groups of test files', () => {
  it('hold every file once', () => {
    const files = divide(many, 4).flat()
    assert.deepEqual(files.toSorted(), many.map(({ file }) => file).toSorted())
  })

  it('begin with the longest files and end with short groups', () => {
    const groups = divide(many, 4)
    assert.ok(groups[0]?.every((file) => secondsOf.get(file) === 30))
    const total = sum(groups.flat())
    for (const group of groups.slice(-4)) assert.ok(sum(group) < total / 40, `${sum(group)} of ${total} s`)
    for (const group of groups) assert.ok(group.length <= 16)
  })

  it('are as many as can run at once when there are few files', () => {
    assert.equal(divide(many.slice(0, 4), 4).length, 4)
    assert.equal(divide(many.slice(20, 24), 4).length, 4)
    assert.equal(divide(many.slice(0, 1), 4).length, 1)
    assert.deepEqual(divide([], 4), [])
  })
})

test('durations of the last run decide; what needs a browser is not begun first', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'switchboard-test-groups-'))
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
  assert.deepEqual(await groupFiles(root, files, 2), [['b.test.ts'], ['c.test.ts'], ['a.test.ts']])
  await keepDurations(root, { 'a.test.ts': 50 })
  await keepDurations(root, { 'b.test.ts': 20 })
  assert.deepEqual(await readDurations(root), { 'a.test.ts': 50, 'b.test.ts': 20 })
  assert.deepEqual(await groupFiles(root, files, 2), [['a.test.ts'], ['c.test.ts'], ['b.test.ts']])
  await writeFile(join(root, 'node_modules', '.durations'), '{')
  assert.deepEqual(await groupFiles(root, files, 2), [['b.test.ts'], ['c.test.ts'], ['a.test.ts']])
})
