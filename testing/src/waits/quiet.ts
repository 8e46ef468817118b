import type { Switchboard } from '@switchboard/client'
import { longestTimer, readMonotonicTime, runLater } from './real-time.ts'

/** More than the 200 ms after which a stream has what was committed at the latest. */
export const usualQuiet = 250

/** What the tests themselves see of what goes on. */
interface Activity {
  /** Grows with every webhook and message that comes, and with every request of the client: what it begins and what it ends. */
  count(): number
  /** Requests of the client that wait for their responses, and messages that phones are about to show. */
  underWay(): number
}

/** Where it looks: the server, and the apps whose webhooks are waited for. */
export interface Watched {
  readonly client: Switchboard
  readonly appIds: readonly string[]
  readonly activity: Activity
}

/** What goes on did not end. */
export class StillBusy extends Error {
  override name = 'StillBusy'
}

/**
 * Waits until nothing goes on: the server has done what is due and attempted every webhook, none is left to be sent again, no request of
 * the client is under way, and then nothing happens for `quiet` milliseconds.
 */
export async function waitUntilQuiet(watched: Watched, quiet: number, timeout: number): Promise<void> {
  const { activity } = watched
  const end = readMonotonicTime() + timeout
  let reason = 'the server was not done with what is due'
  for (;;) {
    const left = end - readMonotonicTime()
    if (left <= quiet) throw new StillBusy(reason)
    const before = activity.count()
    if (!(await settle(watched.client, left))) continue
    const waiting = await countWaiting(watched)
    await pause(quiet)
    if (waiting > 0) reason = `${waiting} ${waiting === 1 ? 'webhook' : 'webhooks'} could not be delivered so far`
    else if (activity.underWay() > 0) reason = `${activity.underWay()} requests or messages were under way`
    else if (activity.count() !== before) reason = 'messages, webhooks or requests came all the time'
    else return
  }
}

/** Moving the clock by nothing does all that is due, webhooks included. False: it took too long. */
async function settle(client: Switchboard, timeout: number): Promise<boolean> {
  const signal = AbortSignal.timeout(Math.min(Math.ceil(timeout), longestTimer))
  try {
    await client.sandbox.clock.move({ advance: '0ms' }, { signal, maxRetries: 0 })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}

async function countWaiting({ client, appIds }: Watched): Promise<number> {
  let count = 0
  for (const app_id of appIds) {
    count += (await client.operator.deliveries.list({ app_id, state: 'waiting', limit: 10 })).data.length
  }
  return count
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void runLater(milliseconds, resolve))
}
