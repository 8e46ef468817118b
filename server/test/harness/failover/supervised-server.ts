import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningServer, startCommand } from '../command.ts'
import type { Keeper } from './keeper.ts'
import { signalTree } from './process-tree.ts'

/** How long a supervisor waits before it starts a process again. */
const restartPause = 500

export interface SupervisedOptions {
  readonly keeper: Keeper
  readonly name: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** A process of the service that is started again whenever it ends, also when its start fails. */
export class SupervisedServer {
  readonly name: string
  /** How often it was started again. */
  restarts = 0
  /** Its last words, for whoever waits for it in vain. */
  lastWords = ''
  readonly #options: SupervisedOptions
  readonly #dataDir: string
  #server: RunningServer | undefined
  #isEnding = false
  #running: Promise<void> = Promise.resolve()

  private constructor(options: SupervisedOptions, dataDir: string) {
    this.name = options.name
    this.#options = options
    this.#dataDir = dataDir
  }

  static async start(options: SupervisedOptions): Promise<SupervisedServer> {
    const dataDir = join(options.keeper.folder, options.name)
    await mkdir(dataDir)
    const supervised = new SupervisedServer(options, dataDir)
    supervised.#running = supervised.#supervise()
    return supervised
  }

  /** Whether it has started, and responds that it can serve, with its database. */
  async isReady(): Promise<boolean> {
    if (!this.#server) return false
    const response = await fetch(`${this.#server.url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(
      () => undefined,
    )
    await response?.arrayBuffer()
    return response?.status === 200
  }

  /** Returns what lets it go on. */
  freeze(): () => void {
    const { pid } = this.#server ?? {}
    if (pid === undefined) throw new Error(`${this.name} does not run`)
    signalTree(pid, 'SIGSTOP')
    return () => signalTree(pid, 'SIGCONT')
  }

  async end(): Promise<void> {
    this.#isEnding = true
    await this.#server?.stop('SIGKILL')
    await this.#running
  }

  async #supervise(): Promise<void> {
    const { args, env, keeper } = this.#options
    for (;;) {
      try {
        this.#server = await startCommand(args, {
          cwd: this.#dataDir,
          env: { ...env, DATA_DIR: this.#dataDir },
          onLaunch: keeper.watch,
        })
        const { stderr } = await this.#server.ended
        this.lastWords = stderr.trim()
      } catch (error) {
        this.lastWords = (error as Error).message.trim()
      }
      this.#server = undefined
      if (this.#isEnding) return
      this.restarts += 1
      await wait(restartPause)
    }
  }
}
