import { request } from 'undici'
import { minute, second } from '../base/duration.ts'
import type { TimerHandler } from '../timers/worker.ts'

const answerTimeout = 10 * second
/** A code lives ten minutes, so trying for longer than that would only send dead ones. */
const retryDelays = [second, 5 * second, 30 * second, minute, 2 * minute, 5 * minute]

/** Posts messages to the carrier behind CARRIER_URL, again and again until it takes them. */
export function makeCarrierHandler(carrierUrl: string): TimerHandler {
  return {
    async act(payload, code) {
      const { statusCode, body } = await request(carrierUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...payload, code }),
        headersTimeout: answerTimeout,
        bodyTimeout: answerTimeout,
      })
      await body.dump()
      if (statusCode < 200 || statusCode > 299) throw new Error(`the carrier answered ${statusCode}`)
    },
    retryDelay: (failures) => retryDelays[failures - 1],
  }
}
