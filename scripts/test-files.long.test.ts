import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, watch, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import type { FileResult } from './test-record.ts'

// Each source is a whole test file; it is run for real.
const imports = `import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { after, before, describe, it, test } from 'node:test'
`
const hang = `new Promise(() => setInterval(() => {}, 1000))`

// node:test runs nothing within a test, so this is a program of its own. It prints the results of each list of files; a few lists are
// run at the same time, because each run() listens to the process, and Node.js warns of more than ten listeners.
const program = `
  const { runTestFiles } = await import(${JSON.stringify(import.meta.resolve('./test-files.ts'))})
  const { lists, ...settings } = JSON.parse(process.argv[2])
  const interruption = new AbortController()
  process.once('SIGTERM', () => interruption.abort())
  const common = { ...settings, environment: process.env, signal: interruption.signal }
  const runList = ({ files, folder }) => Array.fromAsync(runTestFiles(files, { ...common, folder }))
  const results = []
  for (let done = 0; done < lists.length; done += 4) {
    results.push(...(await Promise.all(lists.slice(done, done + 4).map(runList))))
  }
  console.log(JSON.stringify(results))
`

let root: string
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'switchboard-test-files-'))
  await writeFile(join(root, 'program.mjs'), program)
})
after(() => rm(root, { recursive: true }))

describe('a file', () => {
  const sources = {
    nested: `
      it('alone', () => {})
      describe('suite', () => { it('one', () => {}); describe('inner', () => { it('two', () => {}) }) })
      test('holder', async (t) => { await t.test('three', () => {}) })`,
    failing: `
      describe('suite', () => { it('good', () => {}); it('bad', () => assert.deepEqual({ a: 1 }, { a: 2 })) })
      test('holder', async (t) => { await t.test('inner', () => { throw new Error('thrown on purpose') }) })`,
    idle: `
      it.skip('skipped', () => {})
      it.todo('to do')
      it('skips itself', (t) => t.skip('because'))
      it('marks itself', (t) => t.todo())
      describe.skip('whole suite', () => { it('inside', () => {}) })
      it('good', () => {})`,
    hooked: `describe('suite', () => { after(() => { throw new Error('hook broke') }); it('good', () => {}) })`,
    hollow: `describe('hollow', () => {}); it('good', () => {})`,
    empty: '',
    broken: `console.log('before the end'); throw new Error('broke while loading')`,
    leaving: `it('leaves', () => process.exit(0)); it('never comes', () => {})`,
    failingCode: `it('good', () => {}); process.on('exit', () => { process.exitCode = 3 })`,
    aside: `
      it('rejects aside', async () => {
        await null
        void Promise.reject(new Error('rejected aside'))
        await ${hang}
      })`,
    leaking: `
      it('leaves a process behind', () => {
        const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
        console.log(left.pid)
        left.unref()
      })`,
  }
  let results: Map<string, FileResult>

  before(async () => {
    const files = await Promise.all(Object.entries(sources).map(([name, source]) => write(name, source)))
    const lists = await runLists(files.map((file) => [file]))
    results = new Map(lists.map((ofFile) => [ofFile[0]?.file ?? '', merge(ofFile)]))
  })

  it('counts its tests themselves, not the suites and tests that hold them', () => {
    assert.deepEqual(summarize(pick('nested')), { passed: 4, failed: [] })
  })

  it('names a failed test by its suites and shows what it threw', () => {
    const result = pick('failing')
    assert.deepEqual(summarize(result), { passed: 1, failed: ['suite.bad', 'holder.inner'] })
    assert.match(result.failures[0]?.detail ?? '', /\+ {3}a: 1\n-\s+a: 2/)
    assert.match(result.failures[1]?.detail ?? '', /Error: thrown on purpose\n\s+at .*failing\.test\.ts/)
  })

  it('fails by what is skipped or to do', () => {
    const result = pick('idle')
    const { passed, failed } = summarize(result)
    assert.equal(passed, 1)
    for (const title of ['skipped', 'to do', 'skips itself', 'marks itself']) assert.ok(failed.includes(title), title)
    assert.ok(failed.some((title) => title.startsWith('whole suite')))
    for (const { detail } of result.failures) assert.match(detail, /counts as failed/)
  })

  it('fails by a suite whose hook fails', () => {
    const result = pick('hooked')
    assert.deepEqual(summarize(result), { passed: 1, failed: ['suite'] })
    assert.match(result.failures[0]?.detail ?? '', /hook broke/)
  })

  it('fails by a suite without tests, and without a test in it', () => {
    assert.deepEqual(summarize(pick('hollow')), { passed: 1, failed: ['hollow'] })
    const empty = pick('empty')
    assert.deepEqual(summarize(empty), { passed: 0, failed: ['(the file)'] })
    assert.match(empty.failures[0]?.detail ?? '', /holds no test/)
  })

  it('fails when it breaks while it is loaded, and what it printed is kept', () => {
    const result = pick('broken')
    assert.deepEqual(summarize(result), { passed: 0, failed: ['(the file)'] })
    assert.match(result.output.join(''), /before the end/)
    assert.match(result.failures[0]?.detail ?? '', /broke while loading/)
  })

  it('fails when its process leaves before its tests are over, or with another code than 0', () => {
    assert.deepEqual(summarize(pick('leaving')), { passed: 0, failed: ['(the file)'] })
    const other = pick('failingCode')
    assert.deepEqual(summarize(other), { passed: 1, failed: ['(the file)'] })
    assert.match(other.failures[0]?.detail ?? '', /ended with code 3/)
  })

  it('fails by an error that nobody catches', () => {
    const result = pick('aside')
    assert.deepEqual(summarize(result), { passed: 0, failed: ['(the file)'] })
    assert.match(result.failures[0]?.detail ?? '', /Not finished: rejects aside/)
    assert.match(result.output.join(''), /nobody caught: Error: rejected aside\n\s+at .*aside\.test\.ts/)
  })

  it('has what it left running ended', () => {
    const result = pick('leaking')
    assert.deepEqual(summarize(result), { passed: 1, failed: [] })
    // Its pipes are closed, or the run would still be waiting for them; a process that was killed may yet be in the list.
    assert.match(result.output.join(''), /^\d+$/m)
  })

  function pick(name: keyof typeof sources): FileResult {
    const result = results.get(fileOf(name))
    assert.ok(result)
    return result
  }
})

it('is taken once, in order, by whichever process is free', async () => {
  const names = ['first', 'second', 'third', 'fourth', 'fifth']
  const files = await Promise.all(names.map((name) => write(name, `it('${name}', () => console.log(process.pid))`)))
  const [results = []] = await runLists([files], { atOnce: 2 })
  assert.deepEqual(results.map(({ file }) => file).sort(), files.toSorted())
  for (const result of results) assert.deepEqual(summarize(result), { passed: 1, failed: [] })
  const outputs = new Set(results.map(({ output }) => output.join('')))
  const printed = [...outputs].flatMap((output) => output.trim().split('\n'))
  assert.equal(printed.length, files.length)
  assert.equal(new Set(printed).size, outputs.size, 'each process has its own output')
  assert.ok(outputs.size <= 2, printed.join(' '))
})

it('is taken by another process when one has had forty, so that what tests leave in memory goes', async () => {
  const names = Array.from({ length: 45 }, (_, index) => `many-${String(index).padStart(2, '0')}`)
  const files = await Promise.all(names.map((name) => write(name, `it('${name}', () => console.log(process.pid))`)))
  const [results = []] = await runLists([files])
  assert.deepEqual(
    results.map(({ file }) => file),
    files,
  )
  for (const result of results) assert.deepEqual(summarize(result), { passed: 1, failed: [] })
  const outputs = [...new Set(results.map(({ output }) => output.join('')))]
  assert.deepEqual(
    outputs.map((output) => output.trim().split('\n').length),
    [40, 5],
  )
})

it('that takes too long, in a test or after it, is killed, and the files after it go on', async () => {
  const files = await Promise.all([
    write('good', `it('good', () => {}); describe('suite', () => it('too', () => {}))`),
    write('bad', `it('bad', () => assert.fail('on purpose')); it('good', () => {})`),
    write('hooked-file', `after(() => { throw new Error('hook broke') }); it('good', () => {})`),
    write('unloadable', `throw new Error('broke while loading')`),
    write('hanging', `it('good', () => {}); it('hangs', () => ${hang})`),
    write('late', `it('comes', () => {})`),
  ])
  const staying = await write('staying', `it('good', () => {}); setInterval(() => {}, 1000)`)
  const [results = [], alone = []] = await runLists([files, [staying]], { timeout: 30_000 })
  assert.deepEqual(
    results.map(({ file }) => file),
    files,
  )
  assert.deepEqual(results.map(summarize), [
    { passed: 2, failed: [] },
    { passed: 1, failed: ['bad'] },
    { passed: 1, failed: ['(the file)'] },
    { passed: 0, failed: ['(the file)'] },
    { passed: 1, failed: ['(the file)'] },
    { passed: 1, failed: [] },
  ])
  const details = results.map(({ failures }) => failures[0]?.detail ?? '')
  assert.match(details[2] ?? '', /hook broke/)
  assert.match(details[3] ?? '', /broke while loading/)
  assert.match(
    details[4] ?? '',
    /Nothing was heard of its process for 30 s, so it was killed\. Not finished: hangs \(line 4/,
  )
  assert.deepEqual(summarize(merge(alone)), { passed: 1, failed: ['(the file)'] })
})

it('stops at once when the run is interrupted', async () => {
  const hanging = await write(
    'interrupted',
    `import { writeFileSync } from 'node:fs'
    it('hangs', () => { writeFileSync('${join(root, 'started')}', ''); return ${hang} })`,
  )
  const changes = watch(root)
  const child = await startLists([[hanging, hanging]])
  for await (const { filename } of changes) if (filename === 'started') break
  child.kill('SIGTERM')
  const [[result, ...others] = []] = JSON.parse(await text(child.stdout)) as FileResult[][]
  assert.deepEqual(others, [])
  assert.match(result?.failures[0]?.detail ?? '', /interrupted/)
})

async function runLists(lists: string[][], settings = {}): Promise<FileResult[][]> {
  const child = await startLists(lists, settings)
  return JSON.parse(await text(child.stdout))
}

async function startLists(lists: string[][], { timeout = 240_000, atOnce = 1 } = {}) {
  const prepared = lists.map(async (files) => ({ files, folder: await mkdtemp(join(root, 'list-')) }))
  const settings = JSON.stringify({ lists: await Promise.all(prepared), root, atOnce, timeout })
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const args = ['--disable-warning=ExperimentalWarning', join(root, 'program.mjs'), settings]
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
}

/** The end of a process that had run all of its files is a result of its own. */
function merge(results: readonly FileResult[]): FileResult {
  const [first, ...others] = results
  assert.ok(first)
  return { ...first, failures: [...first.failures, ...others.flatMap(({ failures }) => failures)] }
}

async function write(name: string, source: string): Promise<string> {
  await writeFile(fileOf(name), imports + source)
  return fileOf(name)
}

function fileOf(name: string): string {
  return join(root, `${name}.test.ts`)
}

function summarize({ passed, failures }: FileResult) {
  return { passed, failed: failures.map(({ title }) => title.replace(/ \(line .*/, '')) }
}
