import type { Log } from '../base/log/log.ts'
import { Loop } from '../base/work/loop.ts'
import type { Database } from '../db/database.ts'
import { listFaultRules } from './fault-rules.ts'
import type { Faults } from './faults.ts'
import type { SandboxClock } from './sandbox-clock.ts'
import { readSandboxState, type SandboxState } from './state.ts'

/** How often a process reads what others may have changed: they all must know within a second. */
const pollMilliseconds = 300

export interface SandboxWatchDeps {
  readonly database: Database
  readonly clock: SandboxClock
  readonly log: Log
  readonly faults: Faults
  /** The clock was moved, by this process or another. */
  readonly onClockMoved: () => void
  /** The store was replaced as a whole: what this process has in memory of it holds no more. */
  readonly onReplaced: (state: SandboxState) => void
  /** The fault rules were replaced: what they held may be sent. */
  readonly onFaultsReplaced: () => void
}

/** Follows the stored state of the sandbox. */
export class SandboxWatch {
  readonly #deps: SandboxWatchDeps
  readonly #loop: Loop
  #generation: number
  /** Of the rules that this process has; 0 at first, when there may be some. */
  #faultsVersion = 0

  /** `generation`: of the store as it was when the process read it first. */
  constructor(deps: SandboxWatchDeps, generation: number) {
    const { database, log } = deps
    this.#deps = deps
    this.#generation = generation
    this.#loop = new Loop({
      work: () => this.follow(),
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
  take(state: SandboxState): void {
    const { clock_offset, generation } = state
    const { clock, onClockMoved, onReplaced } = this.#deps
    // Read before this process committed a newer one.
    if (generation < this.#generation) return
    const isMoved = clock_offset !== clock.offset
    const isReplaced = generation !== this.#generation
    clock.setOffset(clock_offset)
    this.#generation = generation
    if (isReplaced) onReplaced(state)
    if (isMoved) onClockMoved()
  }

  /** Takes over what is stored now. */
  async follow(): Promise<void> {
    const { database, faults, onFaultsReplaced } = this.#deps
    const state = await readSandboxState(database.read)
    this.take(state)
    if (state.faults_version === this.#faultsVersion) return
    faults.setRules(await listFaultRules(database.read))
    this.#faultsVersion = state.faults_version
    onFaultsReplaced()
  }
}
