import type { Log } from '../base/log.ts'
import { Loop } from '../base/loop.ts'
import type { Database } from '../db/database.ts'
import type { SandboxClock } from './clock.ts'
import { readSandboxState, type SandboxState } from './state.ts'

/** How often a process reads what others may have changed: they all must know within a second. */
const pollMilliseconds = 300

export interface SandboxWatchDeps {
  readonly database: Database
  readonly clock: SandboxClock
  readonly log: Log
  /** The clock was moved, by this process or another. */
  readonly onClockMoved: () => void
}

/** Follows the stored state of the sandbox. */
export class SandboxWatch {
  readonly #deps: SandboxWatchDeps
  readonly #loop: Loop

  constructor(deps: SandboxWatchDeps) {
    const { database, log } = deps
    this.#deps = deps
    this.#loop = new Loop({
      work: () => this.#follow(),
      pause: 0,
      every: pollMilliseconds,
      onFailure: (error) => {
        if (!database.outageOf(error)) log.error({ err: error }, 'the state of the sandbox could not be read')
      },
    })
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
  }

  /** Takes over a state that this process has just committed. */
  take({ clock_offset }: SandboxState): void {
    const { clock, onClockMoved } = this.#deps
    if (clock_offset === clock.offset) return
    clock.setOffset(clock_offset)
    onClockMoved()
  }

  async #follow(): Promise<void> {
    this.take(await readSandboxState(this.#deps.database.read))
  }
}
