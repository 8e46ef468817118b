import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, watch, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { type FileResult, runTestFiles } from './test-files.ts'

// Each source is a whole test file; it is run for real.
const imports = `import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
`

let root: string
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'switchboard-test-files-'))
})
after(() => rm(root, { recursive: true }))

it('counts the tests themselves, not the suites and tests that hold them', async () => {
  const result = await runOne(`
    it('alone', () => {})
    describe('suite', () => { it('one', () => {}); describe('inner', () => { it('two', () => {}) }) })
    test('holder', async (t) => { await t.test('three', () => {}) })
  `)
  assert.deepEqual(summarize(result), { passed: 4, failed: [] })
})

it('names a failed test by its suites and shows what it threw', async () => {
  const result = await runOne(`
    describe('suite', () => { it('good', () => {}); it('bad', () => assert.deepEqual({ a: 1 }, { a: 2 })) })
    test('holder', async (t) => { await t.test('inner', () => { throw new Error('thrown on purpose') }) })
  `)
  assert.deepEqual(summarize(result), { passed: 1, failed: ['suite > bad', 'holder > inner'] })
  assert.match(result.failures[0]?.detail ?? '', /\+ {3}a: 1\n-\s+a: 2/)
  assert.match(result.failures[1]?.detail ?? '', /Error: thrown on purpose\n\s+at .*one\.test\.ts/)
})

it('counts what is skipped or to do as failed', async () => {
  const result = await runOne(`
    it.skip('skipped', () => {})
    it.todo('to do')
    it('skips itself', (t) => t.skip('because'))
    it('marks itself', (t) => t.todo())
    describe.skip('whole suite', () => { it('inside', () => {}) })
    it('good', () => {})
  `)
  assert.equal(result.passed, 1)
  const { failed } = summarize(result)
  for (const title of ['skipped', 'to do', 'skips itself', 'marks itself']) assert.ok(failed.includes(title), title)
  assert.ok(failed.some((title) => title.startsWith('whole suite')))
  for (const { detail } of result.failures) assert.match(detail, /counts as failed/)
})

it('fails a suite whose hook fails', async () => {
  const result = await runOne(`
    describe('suite', () => { after(() => { throw new Error('hook broke') }); it('good', () => {}) })
  `)
  assert.deepEqual(summarize(result), { passed: 1, failed: ['suite'] })
  assert.match(result.failures[0]?.detail ?? '', /hook broke/)
})

it('fails a suite without tests and a file without tests', async () => {
  assert.deepEqual(summarize(await runOne(`describe('hollow', () => {}); it('good', () => {})`)), {
    passed: 1,
    failed: ['hollow'],
  })
  const empty = await runOne('')
  assert.deepEqual(summarize(empty), { passed: 0, failed: ['(the file)'] })
  assert.match(empty.failures[0]?.detail ?? '', /No test in it was run/)
})

it('fails a file that breaks when it is loaded, and keeps what it printed', async () => {
  const result = await runOne(`console.log('before the end'); throw new Error('broke while loading')`)
  assert.deepEqual(summarize(result), { passed: 0, failed: ['(the file)'] })
  assert.match(result.output, /before the end/)
  assert.match(result.failures[0]?.detail ?? '', /broke while loading/)
})

it('fails a file whose process leaves before its tests are over', async () => {
  const result = await runOne(`it('leaves', () => process.exit(0)); it('never comes', () => {})`)
  assert.deepEqual(summarize(result), { passed: 0, failed: ['(the file)'] })
})

it('kills a file that hangs in a test and names the test', async () => {
  const result = await runOne(
    `it('good', () => {}); it('hangs', () => new Promise(() => setInterval(() => {}, 1000)))`,
    2_000,
  )
  assert.deepEqual(summarize(result), { passed: 1, failed: ['(the file)'] })
  assert.match(result.failures[0]?.detail ?? '', /not ended after 2 s and was killed\. Not finished: hangs \(line 3/)
})

it('kills a file that stays alive after its tests', async () => {
  const result = await runOne(`it('good', () => {}); setInterval(() => {}, 1000)`, 2_000)
  assert.deepEqual(summarize(result), { passed: 1, failed: ['(the file)'] })
})

it('ends what a test file left running', async () => {
  const result = await runOne(`
    import { spawn } from 'node:child_process'
    it('leaves a process behind', () => {
      const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
      console.log(left.pid)
      left.unref()
    })
  `)
  assert.deepEqual(summarize(result), { passed: 1, failed: [] })
  // Its pipes are closed, or the run would still be waiting for them; a process that was killed may yet be in the list.
  assert.match(result.output, /^\d+$/m)
})

it('runs every file once, whatever the number at once', async () => {
  const files = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((name) => write(`${name}.test.ts`, `it('good', () => {})`)),
  )
  const seen: string[] = []
  for await (const { file, passed } of runTestFiles(
    [files.slice(0, 3), ...files.slice(3).map((file) => [file])],
    2,
    await makeRun(),
  )) {
    assert.equal(passed, 1)
    seen.push(file)
  }
  assert.deepEqual(seen.sort(), files)
})

it('tells the files of a group apart: by their failures, their hooks, and by who was not over', async () => {
  const files = [
    await write('good.test.ts', `it('good', () => {}); describe('suite', () => it('too', () => {}))`),
    await write('bad.test.ts', `it('bad', () => assert.fail('on purpose')); it('good', () => {})`),
    await write('hooked.test.ts', `after(() => { throw new Error('hook broke') }); it('good', () => {})`),
    await write('unloadable.test.ts', `throw new Error('broke while loading')`),
    await write('hanging.test.ts', `it('hangs', () => new Promise(() => setInterval(() => {}, 1000)))`),
    await write('late.test.ts', `it('never comes', () => {})`),
  ]
  const results = await Array.fromAsync(runTestFiles([files], 1, await makeRun(3_000)))
  assert.deepEqual(results.map(summarize), [
    { passed: 2, failed: [] },
    { passed: 1, failed: ['bad'] },
    { passed: 1, failed: ['(the file)'] },
    { passed: 0, failed: ['(the file)'] },
    { passed: 0, failed: ['(the file)'] },
    { passed: 0, failed: ['(the file)'] },
  ])
  const details = results.map(({ failures }) => failures[0]?.detail ?? '')
  assert.match(details[2] ?? '', /hook broke/)
  assert.match(details[3] ?? '', /broke while loading/)
  assert.match(details[4] ?? '', /killed\. Not finished: hangs/)
})

it('stops at once when the run is interrupted', async () => {
  const interruption = new AbortController()
  const mark = join(root, 'started')
  const hanging = await write(
    'hanging.test.ts',
    `import { writeFileSync } from 'node:fs'
    it('hangs', () => new Promise(() => { setInterval(() => {}, 1000); writeFileSync('${mark}', '') }))`,
  )
  const run = { ...(await makeRun()), signal: interruption.signal }
  const results = Array.fromAsync(runTestFiles([[hanging], [hanging]], 1, run))
  for await (const { filename } of watch(root)) if (filename === 'started') break
  interruption.abort()
  const [result, ...others] = await results
  assert.deepEqual(others, [])
  assert.match(result?.failures[0]?.detail ?? '', /interrupted/)
})

async function runOne(source: string, timeout?: number): Promise<FileResult> {
  const file = await write('one.test.ts', source)
  for await (const result of runTestFiles([[file]], 1, await makeRun(timeout))) return result
  throw new Error('nothing was run')
}

async function write(name: string, source: string): Promise<string> {
  const file = join(root, name)
  await writeFile(file, imports + source)
  return file
}

async function makeRun(timeout = 30_000) {
  const folder = join(root, 'records')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  return { root, folder, timeout, environment: process.env, signal: new AbortController().signal }
}

function summarize({ passed, failures }: FileResult) {
  return { passed, failed: failures.map(({ title }) => title.replace(/ \(line .*/, '')) }
}
