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
const group = fileURLToPath(import.meta.resolve('./test-group.ts'))

/**
 * Runs groups of test files, each group in a process of its own, a few at a time.
 *
 * `node --test` does nearly this, but waits for ever for a file whose process does not end, and calls a file passed whose
 * process left early by process.exit() or which holds no test at all.
 */
export async function* runTestFiles(
  groups: readonly (readonly string[])[],
  atOnce: number,
  run: FileRun,
): AsyncGenerator<FileResult> {
  const waiting = groups.map((files, index) => ({ files, index }))
  const running = new Map<number, Promise<{ index: number; results: FileResult[] }>>()
  for (;;) {
    while (running.size < atOnce && !run.signal.aborted) {
      const next = waiting.shift()
      if (!next) break
      const { files, index } = next
      running.set(
        index,
        runGroup(files, join(run.folder, `${index}.jsonl`), run).then((results) => ({ index, results })),
      )
    }
    if (running.size === 0) return
    const { index, results } = await Promise.race(running.values())
    running.delete(index)
    yield* results
  }
}

async function runGroup(files: readonly string[], recordFile: string, run: FileRun): Promise<FileResult[]> {
  const { NODE_TEST_CONTEXT: _, ...environment } = run.environment
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      `--test-reporter=${reporter}`,
      `--test-reporter-destination=${recordFile}`,
      group,
      ...files,
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
  return judge(files, await readRecords(recordFile), ending, run).map((judged) => ({
    ...judged,
    // Who of a group printed what is not known, so all of it is shown with each that failed.
    output: output.join(''),
  }))
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

/** What became of each file of a group, by what its process told and how that ended. */
function judge(
  files: readonly string[],
  records: readonly TestRecord[],
  ending: Ending,
  run: FileRun,
): Omit<FileResult, 'output'>[] {
  const known = new Map(records.flatMap((record) => (record.kind === 'known' ? [[record.id, record] as const] : [])))
  const judged = files.map((file) => judgeFile(file, records, known))
  const fault = findFaultOfProcess({
    isComplete: records.some(({ kind }) => kind === 'complete'),
    hasFailures: judged.some(({ failures }) => failures.length > 0),
    ending,
    run,
  })
  if (fault === undefined) return judged
  // Whoever was not over is to blame; if all were, it was one of them that kept the process from ending as it should.
  const culprits = judged.some(({ isOver }) => !isOver) ? judged.filter(({ isOver }) => !isOver) : judged
  for (const { failures, unfinished } of culprits) {
    const detail = unfinished.length > 0 ? `${fault} Not finished: ${unfinished.join('; ')}.` : fault
    failures.push({ title: '(the file)', detail })
  }
  return judged
}

interface JudgedFile extends Omit<FileResult, 'output'> {
  isOver: boolean
  unfinished: string[]
}

function judgeFile(file: string, records: readonly TestRecord[], known: ReadonlyMap<number, Known>): JudgedFile {
  const top = [...known.values()].find(({ parent, name }) => parent === 0 && name === file)?.id
  const own = new Set<number>()
  const parents = new Set<number>()
  for (const { id, parent } of known.values()) {
    parents.add(parent)
    if (parent === top || own.has(parent)) own.add(id)
  }
  const ended = records.filter((record) => record.kind === 'ended')
  const failures: FileResult['failures'] = []
  const finished = new Set<number>()
  let passed = 0
  for (const record of ended) {
    if (!own.has(record.id)) continue
    finished.add(record.id)
    const fault = findFault(record, parents.has(record.id))
    if (fault !== undefined) failures.push({ title: nameFully(record.id, known, top), detail: fault })
    else if (!record.isSuite && !parents.has(record.id)) passed++
  }
  const whole = ended.find(({ id }) => id === top)
  // It breaks by itself when it cannot be loaded, or in a hook of its own.
  if (whole && !whole.passed && whole.reason !== 'subtestsFailed') {
    failures.push({ title: '(the file)', detail: whole.failure })
  } else if (whole && finished.size === 0) failures.push({ title: '(the file)', detail: 'No test in it was run.' })
  const unfinished = records.flatMap((record) =>
    record.kind === 'started' && own.has(record.id) && !finished.has(record.id)
      ? [nameFully(record.id, known, top)]
      : [],
  )
  const seconds = (whole?.milliseconds ?? 0) / 1000
  return { file, passed, failures, seconds, isOver: whole !== undefined, unfinished }
}

// A test that has tests in it is no test of its own, but it can break by itself, as a suite can by its hooks.
function findFault({ isSuite, passed, notRun, reason, failure }: Ended, hasChildren: boolean): string | undefined {
  if (notRun) return `It is marked ${notRun}, and a test that does not run counts as failed.`
  if (!passed) return hasChildren && reason === 'subtestsFailed' ? undefined : failure
  if (isSuite && !hasChildren) return 'It holds no test.'
}

interface ProcessFacts {
  isComplete: boolean
  hasFailures: boolean
  ending: Ending
  run: FileRun
}

function findFaultOfProcess({ isComplete, hasFailures, ending, run }: ProcessFacts): string | undefined {
  if (ending.timedOut) return `Its process had not ended after ${run.timeout / 1000} s and was killed.`
  if (run.signal.aborted) return 'It was interrupted.'
  if (ending.signal) return `Its process was ended by ${ending.signal}.`
  if (ending.code !== 0 && !hasFailures) return `Its process ended with code ${ending.code}.`
  if (!isComplete) return 'Its process ended before its tests did.'
}

/** A test's name with those of the suites around it, up to that of its file. */
function nameFully(id: number, known: ReadonlyMap<number, Known>, top: number | undefined): string {
  const names: string[] = []
  const own = known.get(id)
  for (let test = own; test && test.id !== top; test = known.get(test.parent)) names.unshift(test.name)
  return own ? `${names.join(' > ')} (line ${own.place})` : `test ${id}`
}
