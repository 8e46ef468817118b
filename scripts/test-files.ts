import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { tracingChannel } from 'node:diagnostics_channel'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from 'node:test'
import { type FileResult, GroupRecord } from './test-record.ts'

export interface FileRun {
  /** The project's root: the working directory of the tests. */
  root: string
  /** A folder for the files that stand for the groups. */
  folder: string
  /** How many groups run at once. */
  atOnce: number
  /** How long nothing may be heard of a group, in milliseconds. */
  timeout: number
  environment: Readonly<Record<string, string | undefined>>
  signal: AbortSignal
}

/** What became of a group of test files. */
export interface GroupResult {
  results: readonly FileResult[]
  /** What its process printed; whole when the run is over. */
  output: string[]
}

interface Group {
  readonly record: GroupRecord
  readonly output: string[]
  process?: ChildProcess
  timer?: NodeJS.Timeout
  /** Why the process had to be ended. */
  fault?: string
}

/**
 * Runs groups of test files, each in a process of its own, with run() of node:test. What that lacks is added: it waits for ever
 * for a process that does not end, leaves running what tests started, and calls a file passed whose process left early by
 * process.exit() or which holds no test at all.
 */
export async function* runTestFiles(
  fileGroups: readonly (readonly string[])[],
  { root, folder, atOnce, timeout, environment, signal }: FileRun,
): AsyncGenerator<GroupResult> {
  const groups = new Map<string, Group>()
  const loader = JSON.stringify(import.meta.resolve('./test-group.ts'))
  for (const [index, files] of fileGroups.entries()) {
    const entry = join(folder, `group-${index}.mjs`)
    await writeFile(entry, `import { declareFiles } from ${loader}\ndeclareFiles(${JSON.stringify(files)})\n`)
    groups.set(entry, { record: new GroupRecord(files), output: [] })
  }
  const { NODE_TEST_CONTEXT: _, ...env } = environment
  const release = superviseProcesses(groups, timeout, signal)
  const files = [...groups.keys()]
  const execArgv = ['--disable-warning=ExperimentalWarning']
  try {
    for await (const { type, data } of run({ files, concurrency: atOnce, cwd: root, env, execArgv, signal })) {
      // What a process tells has its file as `entryFile`; what run() tells of the process has it as `name`.
      const { entryFile, name = '' } = data as { entryFile?: string; name?: string }
      const group = groups.get(entryFile ?? name)
      if (!group) continue
      const { record, output, process, timer, fault } = group
      timer?.refresh()
      if (type === 'test:stdout' || type === 'test:stderr') output.push(data.message)
      else if (type === 'test:dequeue' && entryFile) record.noteStarted(data)
      else if (type === 'test:complete' && entryFile) record.noteEnded(data)
      // Without a process it never began, because the run was interrupted.
      else if (type === 'test:complete' && process) yield { results: record.conclude(process.exitCode, fault), output }
    }
  } finally {
    release()
  }
}

/**
 * Makes each process that run() starts for a group the head of a process group, so that what its tests started ends with it, also
 * when it takes too long or the run is interrupted. Node.js publishes what it is about to start; run() has no option for this.
 */
function superviseProcesses(groups: ReadonlyMap<string, Group>, timeout: number, signal: AbortSignal): () => void {
  const spawning = tracingChannel('child_process.spawn').start
  const supervise = (message: unknown): void => {
    const { process: child, options } = message as { process: ChildProcess; options: SpawnOptions & { args: string[] } }
    const group = options.args.map((argument) => groups.get(argument)).find((found) => found !== undefined)
    if (!group) return
    options.detached = true
    group.process = child
    const end = (fault: string) => {
      group.fault = fault
      killGroup(child)
    }
    const interrupt = () => end('It was interrupted.')
    const late = `Nothing was heard of its process for ${timeout / 1000} s, so it was killed.`
    group.timer = setTimeout(end, timeout, late)
    signal.addEventListener('abort', interrupt)
    child.once('exit', (_code, endedBy) => {
      clearTimeout(group.timer)
      // What comes later must not start it again.
      delete group.timer
      signal.removeEventListener('abort', interrupt)
      if (endedBy) group.fault ??= `Its process was ended by ${endedBy}.`
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
