import { minute } from '../../base/time/duration.ts'
import type { TimerHandler } from '../../timers/worker.ts'
import { expireUpload, type Tools } from './store.ts'

/** Removes an upload when its time is over, with its bytes and its handle. */
export function makeExpiryHandler(tools: Tools): TimerHandler {
  return {
    deletes: true,
    finish: (tx, payload) => expireUpload(tx, tools, (payload as { id: string }).id),
    retryDelay: () => minute,
  }
}
