// Every check there is: types, lint and format, generated files, tests. `npm test -- WORD…` runs only the test files whose
// path holds one of the words; the other checks are quick and always run.
import { spawn } from 'node:child_process'
import { chmod, glob, mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beginBrowserInstallation } from '../server/test/harness/browser-program.ts'
import { startPostgres } from '../server/test/harness/postgres.ts'
import { type FileResult, runTestFiles } from './test-files.ts'

const root = dirname(import.meta.dirname)
const timeout = 120_000
const filesInGroup = 6
// Files wait for the network and the disk a good part of the time; more than a few at once would fill PostgreSQL's connections.
const atOnce = Math.min(availableParallelism() + 2, 8)

const checks = [
  { name: 'types', command: ['node_modules/.bin/tsc', '--noEmit', '--project', 'tsconfig.json'] },
  {
    name: 'lint and format',
    command: ['node_modules/.bin/biome', 'ci', '--error-on-warnings', '--max-diagnostics=200', '.'],
  },
  { name: 'generated files', command: ['./switchboard', 'gen', '--check'] },
]

const totals = { passed: 0, failed: 0, failedNames: [] as string[] }

const interruption = new AbortController()
// Only the first one is caught: a second Ctrl-C ends this process at once, and PostgreSQL goes with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interruption.abort())

try {
  // Takes a minute or two, beside everything else.
  if (isChosen('server/test/browser.test.ts', process.argv.slice(2))) await beginBrowserInstallation()
  await Promise.all([runChecks(), runTests(process.argv.slice(2))])
} catch (error) {
  fail('the run itself', (error as Error).stack ?? String(error))
}
if (totals.failedNames.length > 0) console.log(`\nfailed:\n${totals.failedNames.map((name) => `  ${name}`).join('\n')}`)
if (interruption.signal.aborted) console.log('\ninterrupted: not everything was run')
console.log(`\n${totals.passed} passed, ${totals.failed} failed`)
process.exitCode = totals.failed > 0 || interruption.signal.aborted ? 1 : 0

async function runChecks(): Promise<void> {
  for (const check of checks) await runCheck(check.name, check.command)
}

async function runCheck(name: string, [program = '', ...args]: string[]): Promise<void> {
  if (interruption.signal.aborted) return
  const started = performance.now()
  const output: string[] = []
  const ending = await new Promise<string>((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], signal: interruption.signal })
    for (const pipe of [child.stdout, child.stderr]) {
      pipe.setEncoding('utf8')
      pipe.on('data', (text: string) => output.push(text))
    }
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) =>
      resolve(code === 0 ? '' : `${program} ended with ${signal ?? `code ${code}`}.`),
    )
  })
  if (ending) return fail(name, `${output.join('')}${ending}`)
  totals.passed++
  console.log(`ok    ${name} (${formatSeconds((performance.now() - started) / 1000)})`)
}

async function runTests(words: string[]): Promise<void> {
  if (interruption.signal.aborted) return
  const files = await findTestFiles()
  const chosen = files.filter((file) => isChosen(file, words))
  if (words.length > 0) {
    console.log(`\nonly ${chosen.length} of ${files.length} test files, whose path holds ${words.join(' or ')}:`)
    for (const file of chosen) console.log(`  ${file}`)
  }
  if (chosen.length === 0) return fail('tests', 'No test file was found to run.')

  // The tests' temporary folder too, so that what a killed test left behind goes with it. PostgreSQL runs as another user when
  // this is root, and makes and removes its own folder in there.
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
  await chmod(folder, 0o1777)
  try {
    const postgres = await startPostgres()
    try {
      const environment = {
        ...process.env,
        TMPDIR: folder,
        TEST_DATABASE_URL: postgres.url,
        // Where `./switchboard` keeps what was compiled: half of what a test file would take to start is that.
        NODE_COMPILE_CACHE: join(root, 'node_modules', '.compiled'),
      }
      const run = { root, folder, timeout, environment, signal: interruption.signal }
      console.log()
      for await (const result of runTestFiles(await groupFiles(chosen), atOnce, run)) reportFile(result)
    } finally {
      await postgres.stop()
    }
  } finally {
    // A PostgreSQL whose test was killed may be removing its own folder at this moment; then this tries again.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

function isChosen(file: string, words: readonly string[]): boolean {
  return words.length === 0 || words.some((word) => file.includes(word))
}

async function findTestFiles(): Promise<string[]> {
  const found: string[] = []
  const isForeign = (path: string) => path.endsWith('node_modules')
  for await (const file of glob('{server,scripts}/**/*.test.ts', { cwd: root, exclude: isForeign })) found.push(file)
  return found.sort()
}

/**
 * Files that start programs come first and alone, because they take longest, and whatever is started last is waited for while
 * nothing else runs. The others share processes: what they load in common would take longer than most of them. Neighbours are
 * apart, so that no group has all the long ones. What needs a browser comes when there was time to install one.
 */
async function groupFiles(files: readonly string[]): Promise<string[][]> {
  const alone: string[][] = []
  const inBrowser: string[][] = []
  const others: string[] = []
  for (const file of files) {
    const text = await readFile(join(root, file), 'utf8')
    if (text.includes('harness/browser')) inBrowser.push([file])
    else if (/harness\/(command|crash|fleet|shell)|fuzz\/(run|server)|soak\/run|node:child_process/.test(text))
      alone.push([file])
    else others.push(file)
  }
  const groups = Array.from({ length: Math.ceil(others.length / filesInGroup) }, (): string[] => [])
  for (const [index, file] of others.entries()) groups[index % groups.length]?.push(file)
  return [...alone, ...inBrowser, ...groups]
}

function reportFile({ file, passed, failures, output, seconds }: FileResult): void {
  totals.passed += passed
  if (failures.length === 0) {
    console.log(`ok    ${file}: ${passed} passed (${formatSeconds(seconds)})`)
    for (const note of output.match(/^note: .*$/gm) ?? []) console.log(`      ${note}`)
    return
  }
  console.log(`FAIL  ${file}: ${passed} passed, ${failures.length} failed (${formatSeconds(seconds)})`)
  for (const { title, detail } of failures) {
    totals.failed++
    totals.failedNames.push(`${file}: ${title}`)
    console.log(`\n  ✗ ${title}\n${indent(detail)}`)
  }
  console.log(output.trim() ? `\n  what it printed:\n${indent(output.trimEnd())}\n` : '')
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
