import { minute } from '../../base/duration.ts'
import type { TimerHandler } from '../../timers/worker.ts'
import { deleteMedia, type Tools } from './store.ts'

/** Sweeps a medium when its time is over; one that was deleted before is gone already. */
export function makeMediaExpiryHandler(tools: Tools): TimerHandler {
  return {
    async finish(tx, payload) {
      await deleteMedia(tx, tools, (payload as { id: string }).id)
    },
    retryDelay: () => minute,
  }
}
