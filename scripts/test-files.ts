import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { tracingChannel } from 'node:diagnostics_channel'
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from 'node:test'
import { type FileResult, ProcessRecord } from './test-record.ts'

export interface FileRun {
  /** The project's root: the working directory of the tests. */
  root: string
  /** A folder for the queue of files and the programs that run them. */
  folder: string
  /** How many processes run at once. */
  atOnce: number
  /** How long nothing may be heard of a process, in milliseconds. */
  timeout: number
  environment: Readonly<Record<string, string | undefined>>
  signal: AbortSignal
}

/**
 * How many files a process takes before another one begins. Much of what tests refer to is kept until their process ends: with a
 * hundred files each of five processes held 600 to 900 MB.
 */
const mostFiles = 40

/** A process that takes files from the queue. */
interface Lane {
  readonly record: ProcessRecord
  /** Where the files are that it took. */
  readonly taken: string
  process?: ChildProcess
  timer?: NodeJS.Timeout
  /** Why the process had to be ended. */
  fault?: string
}

/**
 * Runs test files in a few processes with run() of node:test, in the given order, and yields the result of each when it is over.
 * What run() lacks is added: it waits for ever for a process that does not end, leaves running what tests started, and calls a file
 * passed whose process left early by process.exit() or which holds no test at all.
 */
export async function* runTestFiles(files: readonly string[], options: FileRun): AsyncGenerator<FileResult> {
  const { folder, signal } = options
  const queue = join(folder, 'queue')
  await mkdir(queue)
  for (const [index, file] of files.entries()) await writeFile(join(queue, String(index).padStart(5, '0')), file)
  // More than once only where processes broke off and left files behind.
  for (let left = files.length; left > 0 && !signal.aborted; ) {
    yield* runLanes(queue, left, options)
    const waiting = (await readdir(queue)).length
    if (waiting === left && !signal.aborted) throw new Error(`No process took any of the ${left} test files.`)
    left = waiting
  }
}

async function* runLanes(
  queue: string,
  left: number,
  { root, folder, atOnce, timeout, environment, signal }: FileRun,
): AsyncGenerator<FileResult> {
  const lanes = new Map<string, Lane>()
  const program = JSON.stringify(import.meta.resolve('./test-queue.ts'))
  const count = Math.max(Math.min(atOnce, left), Math.ceil(left / mostFiles))
  for (let index = 0; index < count; index++) {
    const taken = await mkdtemp(join(folder, 'taken-'))
    const entry = `${taken}.mjs`
    const call = `runFiles(${JSON.stringify(queue)}, ${JSON.stringify(taken)}, ${mostFiles})`
    await writeFile(entry, `import { runFiles } from ${program}\nawait ${call}\n`)
    lanes.set(entry, { record: new ProcessRecord(), taken })
  }
  const { NODE_TEST_CONTEXT: _, ...env } = environment
  const release = superviseProcesses(lanes, timeout, signal)
  // Room for young objects, as `./switchboard` gives it: without it a twentieth of the processor time goes to collecting them.
  const execArgv = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16']
  try {
    for await (const { type, data } of run({
      files: [...lanes.keys()],
      concurrency: atOnce,
      cwd: root,
      env,
      execArgv,
      signal,
    })) {
      // An event of a process has its file as `entryFile`; an event of run() about the process has it as `name`.
      const { entryFile, name = '', file = '' } = data as { entryFile?: string; name?: string; file?: string }
      const lane = lanes.get(entryFile ?? name) ?? lanes.get(file)
      if (!lane) continue
      const { record, process, timer, fault } = lane
      timer?.refresh()
      let result: FileResult | undefined
      if (type === 'test:stdout' || type === 'test:stderr') record.noteOutput(data.message)
      else if (type === 'test:dequeue' && entryFile) record.noteStarted(data)
      else if (type === 'test:complete' && entryFile) result = record.noteEnded(data)
      // Without a process it never began, because the run was interrupted.
      else if (type === 'test:complete' && process) {
        result = record.conclude(await readTaken(lane), process.exitCode, fault)
      }
      if (result) yield result
    }
  } finally {
    release()
  }
}

async function readTaken({ taken }: Lane): Promise<string[]> {
  const entries = (await readdir(taken)).sort()
  return Promise.all(entries.map((entry) => readFile(join(taken, entry), 'utf8')))
}

/**
 * Makes each process that run() starts the head of a process group, so that what its tests started ends with it, also
 * when it takes too long or the run is interrupted. Node.js publishes what it is about to start; run() has no option for this.
 */
function superviseProcesses(lanes: ReadonlyMap<string, Lane>, timeout: number, signal: AbortSignal): () => void {
  const spawning = tracingChannel('child_process.spawn').start
  const supervise = (message: unknown): void => {
    const { process: child, options } = message as { process: ChildProcess; options: SpawnOptions & { args: string[] } }
    const lane = options.args.map((argument) => lanes.get(argument)).find((found) => found !== undefined)
    if (!lane) return
    options.detached = true
    lane.process = child
    const end = (fault: string) => {
      lane.fault = fault
      killGroup(child)
    }
    const interrupt = () => end('It was interrupted.')
    const late = `Nothing was heard of its process for ${timeout / 1000} s, so it was killed.`
    lane.timer = setTimeout(end, timeout, late)
    signal.addEventListener('abort', interrupt)
    child.once('exit', (_code, endedBy) => {
      clearTimeout(lane.timer)
      // What comes later must not start it again.
      delete lane.timer
      signal.removeEventListener('abort', interrupt)
      if (endedBy) lane.fault ??= `Its process was ended by ${endedBy}.`
      // What the tests left running would hold the pipes open, and run() would wait for them.
      killGroup(child)
    })
  }
  spawning.subscribe(supervise)
  return () => spawning.unsubscribe(supervise)
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
