import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestRecord } from './test-reporter.ts'

/** What became of one test file: how many of its tests passed, and what is wrong with the others. */
export interface FileResult {
  file: string
  passed: number
  failures: { title: string; detail: string }[]
  /** What the process printed. */
  output: string
  seconds: number
}

export interface FileRun {
  /** The project's root: the working directory of the tests. */
  root: string
  /** A folder for the records of the processes. */
  folder: string
  /** How long one file may take, in milliseconds. */
  timeout: number
  environment: Readonly<Record<string, string | undefined>>
  signal: AbortSignal
}

interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
  timedOut: boolean
}

type Known = TestRecord & { kind: 'known' }
type Ended = TestRecord & { kind: 'ended' }

const reporter = fileURLToPath(import.meta.resolve('./test-reporter.ts'))

/**
 * Runs test files, each in a process of its own, a few at a time.
 *
 * `node --test` does nearly this, but waits for ever for a file whose process does not end, and calls a file passed whose
 * process left early by process.exit() or which holds no test at all.
 */
export async function* runTestFiles(
  files: readonly string[],
  atOnce: number,
  run: FileRun,
): AsyncGenerator<FileResult> {
  const waiting = files.map((file, index) => ({ file, index }))
  const running = new Map<number, Promise<{ index: number; result: FileResult }>>()
  for (;;) {
    while (running.size < atOnce && !run.signal.aborted) {
      const next = waiting.shift()
      if (!next) break
      const { file, index } = next
      running.set(
        index,
        runTestFile(file, join(run.folder, `${index}.jsonl`), run).then((result) => ({ index, result })),
      )
    }
    if (running.size === 0) return
    const { index, result } = await Promise.race(running.values())
    running.delete(index)
    yield result
  }
}

async function runTestFile(file: string, recordFile: string, run: FileRun): Promise<FileResult> {
  const started = performance.now()
  const { NODE_TEST_CONTEXT: _, ...environment } = run.environment
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      `--test-reporter=${reporter}`,
      `--test-reporter-destination=${recordFile}`,
      file,
    ],
    // A group of its own, so that what the tests started can be ended together with them.
    { cwd: run.root, env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  )
  const output: string[] = []
  for (const pipe of [child.stdout, child.stderr]) {
    pipe.setEncoding('utf8')
    pipe.on('data', (text: string) => output.push(text))
  }
  const ending = await waitForEnd(child, run)
  const seconds = (performance.now() - started) / 1000
  return { file, ...judge(await readRecords(recordFile), ending, run), output: output.join(''), seconds }
}

async function waitForEnd(child: ChildProcess, { timeout, signal }: FileRun): Promise<Ending> {
  let timedOut = false
  const killGroup = () => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
  const timer = setTimeout(() => {
    timedOut = true
    killGroup()
  }, timeout)
  signal.addEventListener('abort', killGroup)
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      // Whatever the tests left running holds the pipes open; it goes as well.
      child.once('exit', killGroup)
      child.once('close', (code, endedBy) => resolve({ code, signal: endedBy, timedOut }))
    })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', killGroup)
  }
}

async function readRecords(recordFile: string): Promise<TestRecord[]> {
  // node:test makes the file when the first test is known.
  const text = await readFile(recordFile, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  return whole
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

function judge(records: TestRecord[], ending: Ending, run: FileRun): Pick<FileResult, 'passed' | 'failures'> {
  const known = new Map<number, Known>()
  const parents = new Set<number>()
  for (const record of records) {
    if (record.kind !== 'known') continue
    known.set(record.id, record)
    parents.add(record.parent)
  }
  const failures: FileResult['failures'] = []
  let passed = 0
  const finished = new Set<number>()
  for (const record of records) {
    if (record.kind !== 'ended') continue
    finished.add(record.id)
    const fault = findFault(record, parents.has(record.id))
    if (fault !== undefined) failures.push({ title: nameFully(record.id, known), detail: fault })
    else if (!record.isSuite && !parents.has(record.id)) passed++
  }

  const unfinished = records.flatMap((record) =>
    record.kind === 'started' && !finished.has(record.id) ? [nameFully(record.id, known)] : [],
  )
  const isComplete = records.some(({ kind }) => kind === 'complete')
  const fault = findFaultOfFile({
    isComplete,
    isEmpty: finished.size === 0,
    hasFailures: failures.length > 0,
    ending,
    run,
  })
  if (fault !== undefined) {
    const detail = unfinished.length > 0 ? `${fault} Not finished: ${unfinished.join('; ')}.` : fault
    failures.push({ title: '(the file)', detail })
  }
  return { passed, failures }
}

// A test that has tests in it is no test of its own, but it can break by itself, as a suite can by its hooks.
function findFault({ isSuite, passed, notRun, reason, failure }: Ended, hasChildren: boolean): string | undefined {
  if (notRun) return `It is marked ${notRun}, and a test that does not run counts as failed.`
  if (!passed) return hasChildren && reason === 'subtestsFailed' ? undefined : failure
  if (isSuite && !hasChildren) return 'It holds no test.'
}

interface FileFacts {
  isComplete: boolean
  isEmpty: boolean
  hasFailures: boolean
  ending: Ending
  run: FileRun
}

function findFaultOfFile({ isComplete, isEmpty, hasFailures, ending, run }: FileFacts): string | undefined {
  if (ending.timedOut) return `Its process had not ended after ${run.timeout / 1000} s and was killed.`
  if (run.signal.aborted) return 'It was interrupted.'
  if (ending.signal) return `Its process was ended by ${ending.signal}.`
  if (ending.code !== 0 && !hasFailures) return `Its process ended with code ${ending.code}.`
  if (isEmpty) return 'No test in it was run.'
  if (!isComplete) return 'Its process ended before its tests did.'
}

function nameFully(id: number, known: ReadonlyMap<number, Known>): string {
  const names: string[] = []
  const own = known.get(id)
  for (let test = own; test; test = known.get(test.parent)) names.unshift(test.name)
  return own ? `${names.join(' > ')} (line ${own.place})` : `test ${id}`
}
