import type { Log } from '../base/log.ts'
import type { Database } from '../db/database.ts'
import type { SandboxClock } from './clock.ts'
import { moveClock } from './move-clock.ts'
import type { SandboxPort } from './port.ts'
import { SandboxWatch } from './watch.ts'

export interface SandboxDeps {
  readonly database: Database
  readonly clock: SandboxClock
  readonly log: Log
  /** The clock was moved, by this process or another. */
  readonly onClockMoved: () => void
  /** Corrects what waits, after the clock went back by so many milliseconds. */
  readonly onStepBack: (milliseconds: number) => Promise<void>
  /** Does what is due, as far as this process does such work. */
  readonly settle: () => Promise<void>
}

/** What a process needs to be one of a sandbox. */
export function openSandbox(deps: SandboxDeps): { readonly watch: SandboxWatch; readonly port: SandboxPort } {
  const { clock } = deps
  const watch = new SandboxWatch(deps)
  return {
    watch,
    port: {
      readOffset: () => clock.offset,
      moveClock: (move, record) => moveClock({ ...deps, watch }, move, record),
    },
  }
}
