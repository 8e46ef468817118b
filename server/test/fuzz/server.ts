import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Engine } from '../harness/databases.ts'

export interface Memory {
  readonly heap: number
  readonly rss: number
  readonly external: number
  /** Sockets, timers, requests to the system: what keeps a process going. */
  readonly handles: number
  /** Open files, where the system tells. */
  readonly files: number
}

export type Order =
  | { readonly number: number; readonly do: 'measure' }
  | { readonly number: number; readonly do: 'advance'; readonly milliseconds: number }
  | { readonly number: number; readonly do: 'watch' }
  | { readonly number: number; readonly do: 'report' }
  | { readonly number: number; readonly do: 'calibrate' }
  | { readonly number: number; readonly do: 'stop' }

export interface Reply {
  readonly number: number
  readonly url?: string
  readonly memory?: Memory
  readonly milliseconds?: number
}

export interface FuzzedServer {
  readonly url: string
  /** What it wrote about its own faults. */
  faults(): string
  /** What it uses once its garbage is collected. */
  measure(): Promise<Memory>
  /** The processor time, in milliseconds, of the longest turn of its event loop while something is done. */
  longestTurn(work: () => Promise<unknown>): Promise<number>
  /** The processor time, in milliseconds, that its machine takes for a fixed piece of work, a third of 50 ms on a usual one. */
  calibrate(): Promise<number>
  /** Moves its clock, and returns when everything that became due has happened. */
  advance(milliseconds: number): Promise<void>
  stop(): Promise<void>
}

/** A server that is not gone by then does not stop. */
const patience = 30_000

/** What makes it another server than that of the fuzzer. */
export interface OwnServerOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly world?: object
}

type Wish = { do: 'measure' | 'watch' | 'report' | 'calibrate' | 'stop' } | { do: 'advance'; milliseconds: number }

/** Starts the server of the tests, with its world, in a process of its own. */
export async function startFuzzedServer(engine: Engine, options: OwnServerOptions = {}): Promise<FuzzedServer> {
  const file = new URL('./server-process.ts', import.meta.url)
  const child = fork(file, [engine, JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning', '--expose-gc', '--max-semi-space-size=4'],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  let faults = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    faults = (faults + chunk).slice(-100_000)
  })
  const ended = once(child, 'exit')
  const waiting = new Map<number, (reply: Reply) => void>()
  child.on('message', (reply: Reply) => waiting.get(reply.number)?.(reply))
  const hear = (number: number): Promise<Reply> => {
    const heard = new Promise<Reply>((resolve) => waiting.set(number, resolve))
    const lost = ended.then(([code, signal]) =>
      Promise.reject(new Error(`the server ended with ${code ?? signal}: ${faults}`)),
    )
    return Promise.race([heard, lost])
  }
  const ask = makeAsk(child, hear)
  const { url } = await hear(0)
  if (url === undefined) throw new Error('the server did not say where it is')
  return {
    url,
    faults: () => faults,
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
    async calibrate() {
      const { milliseconds } = await ask({ do: 'calibrate' })
      if (milliseconds === undefined) throw new Error('the server did not do its work')
      return milliseconds
    },
    async advance(milliseconds) {
      await ask({ do: 'advance', milliseconds })
    },
    async stop() {
      // A request that nobody finishes holds up the end: that is a hang, too.
      const deadline = setTimeout(() => child.kill('SIGKILL'), patience)
      if (child.exitCode === null) await ask({ do: 'stop' })
      await ended
      clearTimeout(deadline)
    },
  }
}

function makeAsk(child: ChildProcess, hear: (number: number) => Promise<Reply>): (wish: Wish) => Promise<Reply> {
  let last = 0
  return (wish) => {
    last += 1
    child.send({ ...wish, number: last })
    return hear(last)
  }
}
