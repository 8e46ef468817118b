import { request } from 'undici'
import { minute, second } from '../base/time/duration.ts'
import type { TimerHandler } from '../timers/worker.ts'

const responseTimeout = 10 * second
/** A code is valid for ten minutes, so later attempts would only send expired ones. */
const retryDelays = [second, 5 * second, 30 * second, minute, 2 * minute, 5 * minute]

/** Posts messages to the carrier at CARRIER_URL, and retries until it accepts them. */
export function makeCarrierHandler(carrierUrl: string): TimerHandler {
  return {
    sends: true,
    async act(payload, code) {
      const { statusCode, body } = await request(carrierUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...payload, code }),
        headersTimeout: responseTimeout,
        bodyTimeout: responseTimeout,
      })
      await body.dump()
      if (statusCode < 200 || statusCode > 299) throw new Error(`the carrier answered ${statusCode}`)
    },
    retryDelay: (failures) => retryDelays[failures - 1],
  }
}
