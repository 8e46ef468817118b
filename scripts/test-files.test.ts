import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, watch, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import type { GroupResult } from './test-files.ts'
import type { FileResult } from './test-record.ts'

// Each source is a whole test file; it is run for real.
const imports = `import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { after, before, describe, it, test } from 'node:test'
`
const hang = `new Promise(() => setInterval(() => {}, 1000))`

// node:test runs nothing within a test, so this is a program of its own. It prints what became of the groups.
const program = `
  const { runTestFiles } = await import(${JSON.stringify(import.meta.resolve('./test-files.ts'))})
  const { groups, ...settings } = JSON.parse(process.argv[2])
  const interruption = new AbortController()
  process.once('SIGTERM', () => interruption.abort())
  const environment = process.env
  const results = await Array.fromAsync(runTestFiles(groups, { ...settings, environment, signal: interruption.signal }))
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
    leaking: `
      it('leaves a process behind', () => {
        const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
        console.log(left.pid)
        left.unref()
      })`,
  }
  let results: Map<string, FileResult & { output: string }>

  before(async () => {
    const files = await Promise.all(Object.entries(sources).map(([name, source]) => write(name, source)))
    const groups = await runGroups(files.map((file) => [file]))
    results = new Map(
      groups.flatMap(({ results, output }) =>
        results.map((result) => [result.file, { ...result, output: output.join('') }]),
      ),
    )
  })

  it('is run once, whatever the number at once', () => {
    assert.deepEqual(
      [...results.keys()].sort(),
      Object.keys(sources)
        .map((name) => fileOf(name))
        .sort(),
    )
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
    assert.match(result.output, /before the end/)
    assert.match(result.failures[0]?.detail ?? '', /broke while loading/)
  })

  it('fails when its process leaves before its tests are over, or with another code than 0', () => {
    assert.deepEqual(summarize(pick('leaving')), { passed: 0, failed: ['(the file)'] })
    const other = pick('failingCode')
    assert.deepEqual(summarize(other), { passed: 1, failed: ['(the file)'] })
    assert.match(other.failures[0]?.detail ?? '', /ended with code 3/)
  })

  it('has what it left running ended', () => {
    const result = pick('leaking')
    assert.deepEqual(summarize(result), { passed: 1, failed: [] })
    // Its pipes are closed, or the run would still be waiting for them; a process that was killed may yet be in the list.
    assert.match(result.output, /^\d+$/m)
  })

  function pick(name: keyof typeof sources): FileResult & { output: string } {
    const result = results.get(fileOf(name))
    assert.ok(result)
    return result
  }
})

it('kills what takes too long, in a test or after it, and tells the files of a group apart', async () => {
  const files = await Promise.all([
    write('good', `it('good', () => {}); describe('suite', () => it('too', () => {}))`),
    write('bad', `it('bad', () => assert.fail('on purpose')); it('good', () => {})`),
    write('hooked-file', `after(() => { throw new Error('hook broke') }); it('good', () => {})`),
    write('unloadable', `throw new Error('broke while loading')`),
    write('hanging', `it('good', () => {}); it('hangs', () => ${hang})`),
    write('late', `it('never comes', () => {})`),
  ])
  const staying = await write('staying', `it('good', () => {}); setInterval(() => {}, 1000)`)
  const groups = await runGroups([files, [staying]], 6_000)
  const results = groups.flatMap(({ results }) => results)
  const [group, alone] = [
    files.map((file) => results.find((result) => result.file === file)),
    results.find(({ file }) => file === staying),
  ]
  assert.deepEqual(
    group.map((result) => result && summarize(result)),
    [
      { passed: 2, failed: [] },
      { passed: 1, failed: ['bad'] },
      { passed: 1, failed: ['(the file)'] },
      { passed: 0, failed: ['(the file)'] },
      { passed: 1, failed: ['(the file)'] },
      { passed: 0, failed: ['(the file)'] },
    ],
  )
  const details = group.map((result) => result?.failures[0]?.detail ?? '')
  assert.match(details[2] ?? '', /hook broke/)
  assert.match(details[3] ?? '', /broke while loading/)
  assert.match(
    details[4] ?? '',
    /Nothing was heard of its process for 6 s, so it was killed\. Not finished: hangs \(line 4/,
  )
  assert.deepEqual(alone && summarize(alone), { passed: 1, failed: ['(the file)'] })
})

it('stops at once when the run is interrupted', async () => {
  const hanging = await write(
    'interrupted',
    `import { writeFileSync } from 'node:fs'
    it('hangs', () => { writeFileSync('${join(root, 'started')}', ''); return ${hang} })`,
  )
  const changes = watch(root)
  const child = await startGroups([[hanging], [hanging]], { atOnce: 1 })
  for await (const { filename } of changes) if (filename === 'started') break
  child.kill('SIGTERM')
  const [group, ...others] = JSON.parse(await text(child.stdout)) as GroupResult[]
  assert.deepEqual(others, [])
  assert.match(group?.results[0]?.failures[0]?.detail ?? '', /interrupted/)
})

async function runGroups(groups: string[][], timeout = 60_000): Promise<GroupResult[]> {
  const child = await startGroups(groups, { timeout })
  return JSON.parse(await text(child.stdout))
}

async function startGroups(groups: string[][], { timeout = 60_000, atOnce = 4 }) {
  const folder = await mkdtemp(join(root, 'groups-'))
  const settings = JSON.stringify({ groups, root, folder, atOnce, timeout })
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const args = ['--disable-warning=ExperimentalWarning', join(root, 'program.mjs'), settings]
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
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
