import { listErrors } from '../errors.ts'
import { listFaultErrors } from '../graph/shown-errors/show-error.ts'
import type { Heartbeat } from '../processes/heartbeat.ts'
import { sweepPieces } from '../resources/uploads/sweep.ts'
import type { OwnUsersStream } from '../resources/users/stream-source.ts'
import { openSandbox } from '../sandbox/sandbox.ts'
import { prepareWorld } from '../world/apply.ts'
import { readGivenWorld } from '../world/read.ts'
import type { Foundation } from './foundation.ts'
import type { Limits } from './limits.ts'
import type { Workers } from './workers.ts'

/** What a sandbox moves, empties or replaces besides the store. */
export interface SandboxParts {
  readonly workers: Workers
  readonly heartbeat: Heartbeat
  readonly usersStream: OwnUsersStream
  readonly limits: Limits
}

/** Undefined where the settings turn it off. */
export function makeSandbox(
  foundation: Foundation,
  { workers, heartbeat, usersStream, limits }: SandboxParts,
): ReturnType<typeof openSandbox> | undefined {
  const { config, database, sandboxClock, random, log, sandboxState, faults, table, feed, pieces } = foundation
  if (!sandboxClock || !faults) return undefined
  return openSandbox({
    database,
    clock: sandboxClock,
    random,
    log,
    state: sandboxState,
    faults,
    onFaultsReplaced: () => workers.releaseHeld(),
    errors: listFaultErrors(
      listErrors().map(({ definition }) => definition),
      foundation.vocabulary,
    ),
    hasOperation: (name) => table.some((row) => row.name === name),
    onClockMoved() {
      workers.wake()
      heartbeat.wake()
      usersStream.wantAgain()
    },
    onStepBack: (milliseconds) => workers.stepBack(milliseconds),
    async settle() {
      await workers.settle()
      await workers.sweep()
    },
    heldTimers: () => workers.heldTimers,
    isSendingHeld: () => !foundation.sendingHold.maySend(),
    onReplaced({ replaced_time: time, last_event: event, last_delivery: delivery, last_position: position }) {
      workers.reset()
      heartbeat.wake()
      feed.reset({ time, event, delivery, position })
      usersStream.reset({ time, event, delivery, position })
      limits.clear()
      database.counters.clear()
    },
    async clean() {
      await workers.settleTimers()
      await sweepPieces(database, pieces, log)
    },
    async prepareWorld(given, worldClock) {
      const world = given === undefined ? await foundation.startWorld() : await readGivenWorld(given)
      const warn = (line: string) => log.warn(line)
      const longIds = foundation.vocabulary.habits.long_ids
      return prepareWorld(worldClock, random, world, { production: config.production, longIds, warn })
    },
  })
}
