import { minute } from '../base/time/duration.ts'
import type { TimerHandler } from '../timers/worker.ts'

/** Removes a message from the built-in carrier's outbox. */
export const forgetHandler: TimerHandler = {
  deletes: true,
  async finish(tx, payload) {
    const { id } = payload as { id: string }
    await tx.query.deleteFrom('carrier_messages').where('id', '=', id).execute()
  },
  retryDelay: () => minute,
}
