import type { Database, Transaction } from '../db/database.ts'
import { waitUntilDone } from './due-timers.ts'
import type { SandboxClock } from './sandbox-clock.ts'
import { changeSandboxState, lockSandboxState, moveWithClock } from './state.ts'
import type { SandboxWatch } from './watch.ts'

/** How the clock is to be moved; the time is that of the clock before it. */
export type ClockMove = (now: number, real: number) => number

export interface ClockDeps {
  readonly database: Database
  readonly clock: SandboxClock
  readonly watch: SandboxWatch
  /** Corrects what waits, after the clock went back by so many milliseconds. */
  readonly onStepBack: (milliseconds: number) => Promise<void>
  /** Does what is due, as far as this process does such work. */
  readonly settle: () => Promise<void>
  /** The kinds of timers that do not fire now, although they may be due. */
  readonly heldTimers: () => readonly string[]
  /** Whether deliveries are not sent, although they may be due. */
  readonly isSendingHeld: () => boolean
}

/**
 * Moves the clock of all processes to the time that `move` returns, and resolves when everything that is due by then is done. `record` adds the audit
 * record to the same transaction.
 */
export async function moveClock(deps: ClockDeps, move: ClockMove, record: (tx: Transaction) => void): Promise<void> {
  const { database, clock, watch } = deps
  const { before, after } = await database.transaction(async (tx) => {
    const state = await lockSandboxState(tx)
    const real = clock.real.now()
    const offset = move(real + state.clock_offset, real) - real
    await changeSandboxState(tx, { clock_offset: offset })
    await moveWithClock(tx, offset - state.clock_offset)
    record(tx)
    return { before: state, after: { ...state, clock_offset: offset } }
  })
  watch.take(after)
  const back = before.clock_offset - after.clock_offset
  if (back > 0) await deps.onStepBack(back)
  const now = clock.now()
  await deps.settle()
  await waitUntilDone(database, now, { timers: deps.heldTimers(), deliveries: deps.isSendingHeld() })
}
