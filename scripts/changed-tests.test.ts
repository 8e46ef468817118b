import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, it } from 'node:test'
import { promisify } from 'node:util'
import { findTestsOfChanges } from './changed-tests.ts'

const tests = ['a/one.test.ts', 'a/two.test.ts', 'b/three.test.ts', 'c/four.test.ts', 'c/five.test.ts']
let root: string

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'switchboard-changes-'))
  await git('init', '--quiet', '--initial-branch=main')
  for (const test of tests) await write(test, '')
  await write('b/three.test.ts', "import { source } from '../a/source.ts'\n")
  await write('c/four.test.ts', "import type { Other } from '../a/other.ts'\n")
  await write('a/source.ts', '')
  await write('a/other.ts', '')
  await write('page.md', '')
  await commit()
})
after(() => rm(root, { recursive: true }))

it('finds the tests beside a changed source and those that import it, committed or not', async () => {
  await git('checkout', '--quiet', '-b', 'branch')
  assert.deepEqual((await findTestsOfChanges(root, tests)).tests, [])
  await write('a/source.ts', 'export const source = 1\n')
  const beside = ['a/one.test.ts', 'a/two.test.ts', 'b/three.test.ts']
  assert.deepEqual((await findTestsOfChanges(root, tests)).tests, beside)
  await commit()
  assert.deepEqual((await findTestsOfChanges(root, tests)).tests, beside)
})

it('takes another commit to compare with, and sees new and changed tests, but no pages', async () => {
  await write('page.md', 'A page.\n')
  assert.deepEqual(await findTestsOfChanges(root, tests, 'HEAD'), { since: 'HEAD', tests: [] })
  await write('c/five.test.ts', 'changed\n')
  await write('c/six.test.ts', 'new\n')
  const found = await findTestsOfChanges(root, [...tests, 'c/six.test.ts'], 'HEAD')
  assert.deepEqual(found.tests, ['c/five.test.ts', 'c/six.test.ts'])
})

async function git(...args: string[]): Promise<void> {
  const own = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
  await promisify(execFile)('git', [...own, ...args], { cwd: root })
}

async function commit(): Promise<void> {
  await git('add', '.')
  await git('commit', '--quiet', '--message', 'Change something')
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true })
  await writeFile(join(root, file), text)
}
