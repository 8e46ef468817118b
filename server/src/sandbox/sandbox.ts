import type { Random } from '../base/keys/random.ts'
import type { Log } from '../base/log/log.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Database, Transaction } from '../db/database.ts'
import { listFaultRules, releaseHeld, replaceFaultRules } from './fault-rules.ts'
import type { Faults } from './faults.ts'
import { moveClock } from './move-clock.ts'
import type { KnownError, SandboxPort, WorldCounts } from './port.ts'
import { replaceStore } from './replace-store.ts'
import type { SandboxClock } from './sandbox-clock.ts'
import { deleteSnapshot, listSnapshots, restoreSnapshot, saveSnapshot } from './snapshots.ts'
import { changeSandboxState, lockSandboxState, type SandboxState } from './state.ts'
import { SandboxWatch } from './watch.ts'

export interface SandboxDeps {
  readonly database: Database
  readonly clock: SandboxClock
  readonly random: Random
  readonly log: Log
  /** As it was when the process read it first. */
  readonly state: SandboxState
  /** The clock was moved, by this process or another. */
  readonly onClockMoved: () => void
  /** Corrects what waits, after the clock went back by so many milliseconds. */
  readonly onStepBack: (milliseconds: number) => Promise<void>
  /** Does what is due, as far as this process does such work. */
  readonly settle: () => Promise<void>
  /** The kinds of timers that do not fire now, although they may be due. */
  readonly heldTimers: () => readonly string[]
  /** Whether deliveries are not sent, although they may be due. */
  readonly isSendingHeld: () => boolean
  /** The store was replaced as a whole: what this process has in memory of it holds no more. */
  readonly onReplaced: (state: SandboxState) => void
  /** Does what is due, and removes files that nothing uses any more. */
  readonly clean: () => Promise<void>
  readonly faults: Faults
  /** The fault rules were replaced: what they held may be sent. */
  readonly onFaultsReplaced: () => void
  /** Every error of the API. */
  readonly errors: readonly KnownError[]
  /** Whether the API has an operation of that name. */
  readonly hasOperation: (name: string) => boolean
  /** Reads and checks a world, by default that of the start, and returns how it is written into an empty store. */
  readonly prepareWorld: (
    world: string | object | undefined,
    clock: Clock,
  ) => Promise<(tx: Transaction) => Promise<WorldCounts>>
}

/** What a process needs to be one of a sandbox. */
export function openSandbox(deps: SandboxDeps): { readonly watch: SandboxWatch; readonly port: SandboxPort } {
  const { clock } = deps
  const watch = new SandboxWatch(deps, deps.state.generation)
  return {
    watch,
    port: {
      readOffset: () => clock.offset,
      moveClock: (move, record) => moveClock({ ...deps, watch }, move, record),
      errors: deps.errors,
      hasOperation: deps.hasOperation,
      listFaults: () => listFaultRules(deps.database.read),
      async replaceFaults(rules, record) {
        await deps.database.transaction(async (tx) => {
          const { faults_version } = await lockSandboxState(tx)
          await replaceFaultRules(tx, rules)
          await releaseHeld(tx, clock.now())
          await changeSandboxState(tx, { faults_version: faults_version + 1 })
          record(tx)
        })
        await watch.follow()
      },
      listSnapshots: () => listSnapshots(deps.database.read),
      saveSnapshot: (name, record) => saveSnapshot({ ...deps, watch }, name, record),
      restoreSnapshot: (name, replacer) => restoreSnapshot({ ...deps, watch }, name, replacer),
      deleteSnapshot: (name, record) => deleteSnapshot({ ...deps, watch }, name, record),
      async reset(world, replacer) {
        const write = await deps.prepareWorld(world, clock.real)
        return replaceStore({ ...deps, watch }, replacer, async (tx) => ({
          result: await write(tx),
          state: { clock_offset: 0 },
        }))
      },
    },
  }
}
