// Every check there is: types, lint and format, generated files, tests. `npm test -- WORD…` runs only the test files whose
// path holds one of the words; the other checks are quick and always run. With --long it runs the long tests, which are not among
// them, and with --changed only the tests of what differs from main. With --times it runs one file at a time, and prints the
// processor time of each (Linux alone).
import { spawn } from 'node:child_process'
import { glob, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { beginBrowserInstallation } from '../server/test/harness/browser-program.ts'
import { startPostgres } from '../server/test/harness/postgres.ts'
import { findTestsOfChanges } from './changed-tests.ts'
import { runTestFiles } from './test-files.ts'
import { makeTestFolder } from './test-folder.ts'
import { keepDurations, orderFiles } from './test-order.ts'
import type { FileResult } from './test-record.ts'
import { type FileTime, noteTimes, readTimes } from './test-times.ts'

const root = dirname(import.meta.dirname)
const { values: mode, positionals: words } = parseArgs({
  options: { long: { type: 'boolean' }, changed: { type: 'boolean' }, times: { type: 'boolean' } },
  allowPositionals: true,
})
// Files wait for the network and the disk a good part of the time; more than a few at once would fill PostgreSQL's connections. One
// at a time where the time of each is measured, because all of them share one PostgreSQL; and of the long ones, which measure the
// machine themselves.
const atOnce = mode.times || mode.long ? 1 : Math.min(availableParallelism() + 3, 8)
/** How long nothing may be heard of a process. Longer than any wait in a test, which says by itself what it waited for. */
const timeout = mode.long ? 600_000 : 300_000

interface Check {
  name: string
  command: string[]
  /** What helps whoever sees it fail. */
  hint?: string
  /** Added for the command to the environment of this process. */
  environment?: Record<string, string>
}

const checks: Check[] = [
  {
    name: 'types',
    command: [
      'node_modules/.bin/tsc',
      '--project',
      '.',
      // Several checkers would each check the types that files share; the other processors have tests to run.
      '--checkers',
      '1',
      // What is known of files that have not changed since is kept: the next time takes a tenth of it.
      '--incremental',
      '--tsBuildInfoFile',
      'node_modules/.types',
    ],
  },
  {
    name: 'types of the console',
    command: ['node_modules/.bin/tsc', '--project', 'console'],
  },
  {
    name: 'lint and format',
    // Biome colours its output of `ci` even into a pipe, one letter at a time.
    command: ['node_modules/.bin/biome', 'ci', '--colors=off', '--error-on-warnings', '--max-diagnostics=200', '.'],
    hint: '`npm run format` formats the files and fixes what it can.',
  },
  {
    name: 'dead exports',
    command: ['node_modules/.bin/node', 'node_modules/.bin/knip', '--include', 'exports,types,files', '--no-progress'],
    hint: 'An export that no other file imports loses its `export`; what `declare module` adds to is marked `@public`.',
  },
  { name: 'generated files', command: ['./switchboard', 'gen', '--check'] },
]

const totals = { passed: 0, failed: 0, failedNames: [] as string[] }

const interruption = new AbortController()
// Only the first one is caught: a second Ctrl-C ends this process at once, and PostgreSQL goes with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interruption.abort())

try {
  const files = await chooseFiles()
  await Promise.all([runChecks(), runTests(files)])
} catch (error) {
  fail('the run itself', (error as Error).stack ?? String(error))
}
if (totals.failedNames.length > 0) console.log(`\nfailed:\n${totals.failedNames.map((name) => `  ${name}`).join('\n')}`)
if (interruption.signal.aborted) console.log('\ninterrupted: not everything was run')
console.log(`\n${totals.passed} passed, ${totals.failed} failed`)
process.exitCode = totals.failed > 0 || interruption.signal.aborted ? 1 : 0

async function runChecks(): Promise<void> {
  for (const check of checks) await runCheck(check)
}

async function runCheck({ name, command: [program = '', ...args], hint, environment }: Check): Promise<void> {
  if (interruption.signal.aborted) return
  const started = performance.now()
  const output: string[] = []
  const ending = await new Promise<string>((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
      signal: interruption.signal,
    })
    for (const pipe of [child.stdout, child.stderr]) {
      pipe.setEncoding('utf8')
      pipe.on('data', (text: string) => output.push(text))
    }
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) =>
      resolve(code === 0 ? '' : `${program} ended with ${signal ?? `code ${code}`}.`),
    )
  })
  if (ending) return fail(name, [`${output.join('')}${ending}`, hint].filter(Boolean).join('\n'))
  totals.passed++
  console.log(`ok    ${name} (${formatSeconds((performance.now() - started) / 1000)})`)
}

/** The test files to run; says which they are when they are not all. */
async function chooseFiles(): Promise<string[]> {
  const found: string[] = []
  const isForeign = (path: string) => path.endsWith('node_modules')
  for await (const file of glob('{server,sdk,testing,voice,console,scripts}/**/*.test.ts', {
    cwd: root,
    exclude: isForeign,
  }))
    found.push(file)
  const files = found.filter((file) => file.endsWith('.long.test.ts') === (mode.long ?? false)).sort()
  if (mode.changed) {
    const { since, tests } = await findTestsOfChanges(root, files, words[0])
    return announce(tests, files, `of what differs from ${since}`)
  }
  if (words.length === 0) return files
  const chosen = files.filter((file) => words.some((word) => file.includes(word)))
  if (chosen.length === 0) fail('tests', `No test file has a path that holds ${words.join(' or ')}.`)
  return announce(chosen, files, `whose path holds ${words.join(' or ')}`)
}

function announce(chosen: string[], files: readonly string[], which: string): string[] {
  console.log(`\nonly ${chosen.length} of ${files.length} test files, ${which}:`)
  for (const file of chosen) console.log(`  ${file}`)
  return chosen
}

async function runTests(files: readonly string[]): Promise<void> {
  if (interruption.signal.aborted || files.length === 0) return
  // Takes a minute or two, beside everything else.
  if (files.includes('server/test/console-browser.test.ts')) await beginBrowserInstallation()
  // What a killed test left behind goes with it.
  const folder = await makeTestFolder()
  // Where Node.js keeps what it compiled, in memory where possible: half of what a process takes to start is that.
  const compiled = join(folder, 'compiled')
  try {
    // Tests start many servers, of both kinds.
    await runCheck({ name: 'packed server', command: ['node_modules/.bin/node', 'scripts/compile.mjs'] })
    await runCheck({
      name: 'compiled server',
      command: ['node_modules/.bin/node', '--disable-warning=ExperimentalWarning', 'server/test/harness/server.ts'],
      environment: { NODE_COMPILE_CACHE: compiled },
    })
    const postgres = await startPostgres(folder)
    try {
      const environment = {
        ...process.env,
        TMPDIR: folder,
        TEST_DATABASE_URL: postgres.url,
        NODE_COMPILE_CACHE: compiled,
        // Few files run, so there is time for what others try on one database alone.
        ...(mode.changed && { TEST_DATABASES: 'both' }),
      }
      const times = join(folder, 'times')
      if (mode.times) Object.assign(environment, noteTimes({ postgres: postgres.pid, path: times }))
      const run = { root, folder, atOnce, timeout, environment, signal: interruption.signal }
      const results: FileResult[] = []
      console.log()
      for await (const result of runTestFiles(await orderFiles(root, files), run)) {
        reportFile(result)
        results.push(result)
      }
      for (const [output, sameProcess] of Map.groupBy(results, ({ output }) => output)) showOutput(output, sameProcess)
      if (mode.times) reportTimes(readTimes(times))
      const over = results.filter(({ isOver }) => isOver)
      await keepDurations(root, Object.fromEntries(over.map(({ file, seconds }) => [file, seconds])))
    } finally {
      await postgres.stop()
    }
  } finally {
    // A PostgreSQL whose test was killed may be removing its own folder at this moment; then this tries again.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

function reportTimes(times: readonly FileTime[]): void {
  const columns = (tests: number, postgres: number) =>
    [tests + postgres, tests, postgres].map((seconds) => seconds.toFixed(1).padStart(7)).join('')
  console.log('\n  total  tests  PostgreSQL: processor time in seconds')
  for (const { file, tests, postgres } of times) console.log(`${columns(tests, postgres)}  ${file}`)
  const sum = (part: 'tests' | 'postgres') => times.reduce((total, time) => total + time[part], 0)
  console.log(`${columns(sum('tests'), sum('postgres'))}  all`)
}

function reportFile({ file, passed, failures, seconds }: FileResult): void {
  totals.passed += passed
  const counts = failures.length === 0 ? `${passed} passed` : `${passed} passed, ${failures.length} failed`
  console.log(`${failures.length === 0 ? 'ok   ' : 'FAIL '} ${file}: ${counts} (${formatSeconds(seconds)})`)
  for (const { title, detail } of failures) {
    totals.failed++
    totals.failedNames.push(`${file}: ${title}`)
    console.log(`\n  ✗ ${title}\n${indent(detail)}\n`)
  }
}

/** The whole output of a process with a failed file, whichever file it is of, and otherwise only notes and the warnings of Node.js. */
function showOutput(output: readonly string[], results: readonly FileResult[]): void {
  const text = output.join('').trimEnd()
  const shown = results.some(({ failures }) => failures.length > 0)
    ? text
    : text.match(/^(?:note: |\(node:\d+\) ).*$/gm)?.join('\n')
  if (shown) console.log(`\nwhat ${results.map(({ file }) => file).join(', ')} printed:\n${indent(shown)}`)
}

function fail(name: string, detail: string): void {
  totals.failed++
  totals.failedNames.push(name)
  console.log(`FAIL  ${name}\n${indent(detail.trimEnd())}\n`)
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ')
}

function formatSeconds(seconds: number): string {
  return `${seconds.toFixed(1)} s`
}
