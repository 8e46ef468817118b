import { minute } from '../../base/time/duration.ts'
import type { TimerHandler } from '../../timers/worker.ts'
import { deleteMedia, type Tools } from './store.ts'

/** Removes a media file when its time is over; a deleted one is already gone. */
export function makeMediaExpiryHandler(tools: Tools): TimerHandler {
  return {
    deletes: true,
    async finish(tx, payload) {
      await deleteMedia(tx, tools, (payload as { id: string }).id)
    },
    retryDelay: () => minute,
  }
}
