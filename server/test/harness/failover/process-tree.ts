import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

interface Process {
  readonly pid: number
  readonly parent: number
  /** When it was started: a number that another process with the same id does not have. */
  readonly started: string
}

/** What Linux knows of a process; undefined when there is none. */
export function readProcess(pid: number): Process | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before it may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { pid, parent: Number(fields[1]), started: fields[19] as string }
  } catch {
    return undefined
  }
}

/** Sends a signal to a process and to all below it. PostgreSQL gives each of its processes a group of its own. */
export function signalTree(root: number, signal: NodeJS.Signals): void {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []))
  const tree = [root]
  for (const pid of tree) for (const one of all) if (one.parent === pid) tree.push(one.pid)
  for (const pid of tree) sendSignal(pid, signal)
}

/** Nothing happens when the process has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The first process of the PostgreSQL on a folder of data; undefined when none runs. */
export function findPostmaster(data: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    // One that was killed leaves its file behind, and the id may be another's by now.
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data) ? pid : undefined
  } catch {
    return undefined
  }
}
