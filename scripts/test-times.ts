import { appendFileSync, readdirSync, readFileSync } from 'node:fs'

/** The processor time of a test file, in seconds. */
export interface FileTime {
  readonly file: string
  /** Of the process that runs the file, and of the processes that its tests started. */
  readonly tests: number
  readonly postgres: number
}

/** Where a process finds the PostgreSQL whose time it measures, and where it writes what it measured: one line for each file. */
const timesVariable = 'TEST_TIMES'

interface TimesPlace {
  readonly postgres: number
  readonly path: string
}

const place = takePlace()

/** The environment in which `measureFile` writes what it measured. */
export function noteTimes(place: TimesPlace): Record<string, string> {
  return { [timesVariable]: JSON.stringify(place) }
}

/** Begins to measure the time of a file in this process, where that is wanted; the function that it returns ends it. */
export function measureFile(file: string): () => void {
  if (place === undefined) return () => {}
  const { postgres, path } = place
  const before = { tests: measureTree(process.pid), postgres: measureTree(postgres) }
  return () => {
    const tests = measureTree(process.pid) - before.tests
    const time: FileTime = { file, tests, postgres: measureTree(postgres) - before.postgres }
    appendFileSync(path, `${JSON.stringify(time)}\n`)
  }
}

/** What was measured, the longest first. */
export function readTimes(path: string): FileTime[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  const times = lines.map((line) => JSON.parse(line) as FileTime)
  return times.sort((one, other) => other.tests + other.postgres - one.tests - one.postgres)
}

/** Taken out of the environment: runners that tests start would write there too. */
function takePlace(): TimesPlace | undefined {
  const text = process.env[timesVariable]
  delete process.env[timesVariable]
  return text === undefined ? undefined : (JSON.parse(text) as TimesPlace)
}

/** Linux counts in hundredths of a second. */
const ticksPerSecond = 100

/** The processor time, in seconds, of a process and of all that descend from it, those included that have ended. Linux alone. */
function measureTree(pid: number): number {
  const processes = readProcesses()
  const isInTree = ({ parent, ...own }: Process): boolean => {
    if (own.pid === pid) return true
    const next = processes.get(parent)
    return next !== undefined && isInTree(next)
  }
  let ticks = 0
  for (const one of processes.values()) if (isInTree(one)) ticks += one.ticks
  return ticks / ticksPerSecond
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly ticks: number
}

function readProcesses(): Map<number, Process> {
  const found = new Map<number, Process>()
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) continue
    const fields = readStat(pid)
    if (!fields) continue
    const [parent = 0] = fields.slice(1, 2)
    // Its own time in programs and in the kernel, and that of its children that have ended.
    const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0)
    found.set(pid, { pid, parent, ticks })
  }
  return found
}

/** The fields after the name, which may hold anything. */
function readStat(pid: number): number[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}
