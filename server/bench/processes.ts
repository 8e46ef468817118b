import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

// With the flags that it runs with in life.
const launcher = new URL('../../switchboard', import.meta.url).pathname
const bare = new URL('./bare-server.ts', import.meta.url).pathname
const bareRelay = new URL('./bare-relay.ts', import.meta.url).pathname
const sink = new URL('./sink.ts', import.meta.url).pathname

/** A server in a process of its own, so that its work is not done by the process that measures it. */
export interface Measured {
  readonly url: string
  /** From the start of the process to the line that says it is ready. */
  readonly readyMilliseconds: number
  /** Resident memory in megabytes. */
  memory(): number
  stop(): Promise<void>
}

export function startSwitchboard(dataDir: string, world?: string): Promise<Measured> {
  return start(
    launcher,
    ['serve', '--port', '0', '--data', dataDir, ...(world === undefined ? [] : ['--world', world])],
    {
      // On, as in life, but out of the way of a load test.
      RATE_LIMIT_PLATFORM: '1000000000/1h',
    },
  )
}

export function startBareServer(): Promise<Measured> {
  return startScript([bare])
}

/** Takes events and posts them to an address, and does nothing else. */
export function startBareRelay(target: string): Promise<Measured> {
  return startScript([bareRelay, target])
}

export function startSink(): Promise<Measured> {
  return startScript([sink])
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
  return {
    url,
    readyMilliseconds,
    memory: () => residentMegabytes(child.pid as number),
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
