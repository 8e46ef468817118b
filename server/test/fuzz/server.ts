import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { Engine } from '../harness/databases.ts'
import type { Damage } from './damage.ts'

export interface Memory {
  readonly heap: number
  readonly rss: number
  readonly external: number
  /** Sockets, timers, requests to the system: what keeps a process going. */
  readonly handles: number
  /** Open files, where the system lists them. */
  readonly files: number
}

export type Order =
  | { readonly number: number; readonly do: 'measure' }
  | { readonly number: number; readonly do: 'time' }
  | { readonly number: number; readonly do: 'advance'; readonly milliseconds: number }
  | { readonly number: number; readonly do: 'inspect' | 'ping' | 'watch' | 'report' | 'time' | 'calibrate' }

export interface Reply {
  readonly number: number
  readonly url?: string
  readonly dataDir?: string
  readonly memory?: Memory
  readonly leftovers?: readonly string[]
  readonly milliseconds?: number
  readonly processorTime?: number
}

/** How the process ended. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Longer than the last deadline of a stop. */
const usualStopTimeoutMs = 120_000

export interface FuzzedServer {
  readonly url: string
  /** What it wrote about its own faults. */
  faults(): string
  /** What it uses once its garbage is collected. */
  measure(): Promise<Memory>
  /** The processor time, in milliseconds, of the longest turn of its event loop while something is done. */
  longestTurn(work: () => Promise<unknown>): Promise<number>
  /** Milliseconds of a processor that it has used since its start. */
  readProcessorTime(): Promise<number>
  /** The processor time, in milliseconds, that its machine takes for a fixed piece of work, a third of 50 ms on a usual one. */
  calibrate(): Promise<number>
  /** Moves its clock, and returns when everything that became due has happened. */
  advance(milliseconds: number): Promise<void>
  /** Files and open handles that belong to nothing, in words. */
  inspect(): Promise<readonly string[]>
  /** Whether the process is gone, though nobody stopped it. */
  hasEnded(): Promise<boolean>
  /** Sends a SIGTERM, and a SIGKILL where that does not help in time. */
  stop(): Promise<Ending>
}

/** What makes it another server than that of the fuzzer. */
export interface OwnServerOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly world?: object
  /** What is wrong with it on purpose, to see whether it is found. */
  readonly damage?: Damage
  /** Milliseconds after a SIGTERM; a server that is not gone by then does not stop. */
  readonly stopTimeoutMs?: number
}

type Wish =
  | { do: 'measure' }
  | { do: 'advance'; milliseconds: number }
  | { do: 'inspect' | 'ping' | 'watch' | 'report' | 'time' | 'calibrate' }

/** Starts the server of the tests, with its world, in a process of its own. */
export async function startFuzzedServer(engine: Engine, options: OwnServerOptions = {}): Promise<FuzzedServer> {
  const file = new URL('./server-process.ts', import.meta.url)
  const child = fork(file, [engine, JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning', '--expose-gc', '--max-semi-space-size=4'],
    // glibc keeps memory for each thread, and what it keeps grows for thousands of requests: a leak would not stand out.
    env: { ...process.env, MALLOC_ARENA_MAX: '1' },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  let faults = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    faults = (faults + chunk).slice(-100_000)
  })
  let ending: Ending | undefined
  const ended = once(child, 'exit').then(([code, signal]) => {
    ending = { code, signal }
    return ending
  })
  const waiting = new Map<number, (reply: Reply) => void>()
  child.on('message', (reply: Reply) => waiting.get(reply.number)?.(reply))
  const readReply = (number: number): Promise<Reply> => {
    const reply = new Promise<Reply>((resolve) => waiting.set(number, resolve))
    const lost = ended.then((how) => Promise.reject(new Error(`${describeEnding(how)}: ${faults}`)))
    return Promise.race([reply, lost])
  }
  const ask = makeAsk(child, readReply)
  const { url, dataDir } = await readReply(0)
  if (url === undefined || dataDir === undefined) throw new Error('the server did not say where it is')
  return {
    url,
    faults: () => faults,
    async hasEnded() {
      if (ending) return true
      // One that is about to end answers nothing any more.
      return ask({ do: 'ping' }).then(
        () => false,
        () => true,
      )
    },
    async measure() {
      const { memory } = await ask({ do: 'measure' })
      if (!memory) throw new Error('the server did not tell its memory')
      return memory
    },
    async longestTurn(work) {
      await ask({ do: 'watch' })
      await work()
      const { milliseconds } = await ask({ do: 'report' })
      if (milliseconds === undefined) throw new Error('the server did not report its turns')
      return milliseconds
    },
    async readProcessorTime() {
      return (await ask({ do: 'time' })).processorTime ?? 0
    },
    async calibrate() {
      const { milliseconds } = await ask({ do: 'calibrate' })
      if (milliseconds === undefined) throw new Error('the server did not do its work')
      return milliseconds
    },
    async advance(milliseconds) {
      await ask({ do: 'advance', milliseconds })
    },
    async inspect() {
      return (await ask({ do: 'inspect' })).leftovers ?? []
    },
    async stop() {
      if (!ending) child.kill('SIGTERM')
      // A request that nobody finishes holds up the end: that is a hang, too.
      const deadline = setTimeout(() => child.kill('SIGKILL'), options.stopTimeoutMs ?? usualStopTimeoutMs)
      const how = await ended
      clearTimeout(deadline)
      await rm(dataDir, { recursive: true, force: true })
      return how
    },
  }
}

export function describeEnding({ code, signal }: Ending): string {
  return `the server ended with ${signal ?? `code ${code}`}`
}

function makeAsk(child: ChildProcess, readReply: (number: number) => Promise<Reply>): (wish: Wish) => Promise<Reply> {
  let last = 0
  return (wish) => {
    last += 1
    const reply = readReply(last)
    // A channel that is closed belongs to a process that has ended, which the reply reports.
    if (child.connected) child.send({ ...wish, number: last }, () => {})
    return reply
  }
}
