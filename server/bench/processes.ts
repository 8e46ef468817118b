import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

// With the flags that it runs with in life.
const ownLauncher = new URL('../../switchboard', import.meta.url).pathname
// On, as in life, but out of the way of a load test.
const noLimit = { RATE_LIMIT_PLATFORM: '1000000000/1h' }
const barePostgres = new URL('./bare-postgres.ts', import.meta.url).pathname
const bare = new URL('./bare-server.ts', import.meta.url).pathname
const bareRelay = new URL('./bare-relay.ts', import.meta.url).pathname
const sink = new URL('./sink.ts', import.meta.url).pathname

/** A server in a process of its own, so that its work is not done by the process that measures it. */
export interface Measured {
  readonly url: string
  /** From the start of the process to the line that says it is ready. */
  readonly readyMilliseconds: number
  /** Milliseconds of CPU that the process had used by then. */
  readonly readyCpuMilliseconds: number
  /** Resident memory in megabytes. */
  memory(): number
  /** Microseconds of CPU that the process has used so far. */
  cpu(): number
  stop(): Promise<void>
}

/** Does what an install does at its end: a server that runs from changed sources starts slower, and is larger. */
export function packServer(checkout?: string): void {
  const root = checkout ?? new URL('../..', import.meta.url).pathname
  execFileSync(process.execPath, [`${root}/scripts/compile.mjs`], { stdio: ['ignore', 'ignore', 'inherit'] })
}

export interface OnSqlite {
  readonly dataDir: string
  readonly world?: string | undefined
  readonly env?: Readonly<Record<string, string>>
  /** Another checkout than this one, to compare the two. */
  readonly checkout?: string | undefined
}

export function startSwitchboard({ dataDir, world, env = {}, checkout }: OnSqlite): Promise<Measured> {
  const args = ['serve', '--port', '0', '--data', dataDir, ...(world === undefined ? [] : ['--world', world])]
  return start(launcherOf(checkout), args, { ...noLimit, ...env })
}

export interface OnPostgres {
  readonly url: string
  readonly dataDir: string
  readonly world: string
  readonly role?: 'api' | 'worker' | 'all'
  readonly env?: Readonly<Record<string, string>>
  /** Another checkout than this one, to compare the two. */
  readonly checkout?: string | undefined
}

export function startOnPostgres(options: OnPostgres): Promise<Measured> {
  const { url, dataDir, world, role = 'all', env = {}, checkout } = options
  const args = ['serve', '--port', '0', '--data', dataDir, '--world', world, '--role', role]
  return start(launcherOf(checkout), args, { DATABASE_URL: url, ...noLimit, ...env })
}

function launcherOf(checkout: string | undefined): string {
  return checkout === undefined ? ownLauncher : join(checkout, 'switchboard')
}

/** The same look-up and the same write, each one prepared statement through `pg`. */
export function startBarePostgres(url: string): Promise<Measured> {
  return startScript([barePostgres, url])
}

export function startBareServer(): Promise<Measured> {
  return startScript([bare])
}

/** Takes events and posts them to an address, and does nothing else. */
export function startBareRelay(target: string): Promise<Measured> {
  return startScript([bareRelay, target])
}

/** Answers each post after so many milliseconds. */
export function startSink(delay = 0): Promise<Measured> {
  return startScript([sink, String(delay)])
}

function startScript(args: string[]): Promise<Measured> {
  return start(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {})
}

async function start(command: string, args: string[], env: Record<string, string>): Promise<Measured> {
  const started = performance.now()
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  })
  const url = await readyLine(child)
  const readyMilliseconds = performance.now() - started
  const readyCpuMilliseconds = cpuOf(child.pid as number) / 1000
  return {
    url,
    readyMilliseconds,
    readyCpuMilliseconds,
    memory: () => residentMegabytes(child.pid as number),
    cpu: () => cpuOf(child.pid as number),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}

async function readyLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the child has no standard output')
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /listening on (http:\S+)/.exec(line)?.[1]
    if (address) return address
  }
  throw new Error('the server ended before it was ready')
}

function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}

/** Microseconds of all threads of a process. Its `stat` would count in hundredths of a second, too coarse for short rounds. */
function cpuOf(pid: number | string): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => sum + cpuOfThread(`/proc/${pid}/task/${thread}`), 0)
}

/** 0 for one that has just ended. */
function cpuOfThread(folder: string): number {
  try {
    return Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1000
  } catch {
    return 0
  }
}

/**
 * Counts the CPU of the processes of a PostgreSQL server, given its first one: of all, or of the connections to one database. Vacuuming
 * is left out: when it runs has nothing to do with the measurement. A connection that is closed meanwhile stays counted.
 */
export function watchPostgres(parent: number, database = ''): () => number {
  const known = new Map<string, number>()
  return () => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
        if (Number(fields.split(' ')[1]) !== parent) continue
        const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        if (title.includes(database) && !title.includes('autovacuum worker')) known.set(pid, cpuOf(pid))
      } catch {
        // It has just ended.
      }
    }
    return [...known.values()].reduce((sum, cpu) => sum + cpu, 0)
  }
}
