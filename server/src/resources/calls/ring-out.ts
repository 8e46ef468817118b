import type { Clock } from '../../base/time/clock.ts'
import { minute } from '../../base/time/duration.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import type { TimerHandler } from '../../timers/worker.ts'
import { progressCall } from './progress.ts'
import { isUnanswered } from './states.ts'
import { findCallForGateway, findNumberForGateway, lockCall } from './store.ts'

/** Ends a call that has rung for the maximum time. */
export function makeRingOutHandler({ clock, vocabulary }: { clock: Clock; vocabulary: Vocabulary }): TimerHandler {
  return {
    async finish(tx, payload) {
      const { call_id } = payload as { call_id: string }
      const found = await findCallForGateway(tx, call_id)
      const number = found && (await findNumberForGateway(tx, found.phone_number_id))
      if (!found || !number) return
      // Answering or ending a call cancels its timer first, so this call still rings, unless the timer was set twice.
      if (!isUnanswered(await lockCall(tx, found))) return
      await progressCall({ db: tx, clock, vocabulary }, number, found, { side: 'clock', action: 'time_out' })
    },
    retryDelay: () => minute,
  }
}
