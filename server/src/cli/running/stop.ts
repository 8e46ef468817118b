import { setTimeout as wait } from 'node:timers/promises'
import type { App } from '../../app.ts'
import type { Log } from '../../base/log/log.ts'
import { second } from '../../base/time/duration.ts'
import type { Database } from '../../db/database.ts'
import { onEndingSignals } from '../ending-signals.ts'
import { describeFailure } from '../fail.ts'
import type { ServiceManager } from './service-manager.ts'

export interface Stoppable {
  readonly app: Pick<App, 'close'>
  readonly database: Pick<Database, 'close'>
  /** Releases the embedded store, which belongs to this process until then. */
  readonly lock: { release(): void } | undefined
  readonly log: Log
  /** Writes the waiting lines of the log; where nobody reads it, it gives up. */
  readonly closeLog: () => Promise<void>
  /** Milliseconds for requests under way, and the same again for deliveries after them. */
  readonly grace: number
  /** Is notified of the stop; undefined: nobody waits for that. */
  readonly serviceManager?: ServiceManager
}

/** For closing the store, and for anything unforeseen. */
const spareMilliseconds = 5 * second
const pollMilliseconds = 20

/** Stops the process in order at the first signal, at the latest after twice the grace period and a little more. */
export function stopOnSignals(parts: Stoppable): void {
  onEndingSignals(['SIGTERM', 'SIGINT'], (signal) => stop(signal, parts))
}

async function stop(signal: NodeJS.Signals, parts: Stoppable): Promise<void> {
  const { app, database, lock, log, closeLog, grace, serviceManager } = parts
  setTimeout(() => kill(log, closeLog), 2 * grace + spareMilliseconds)
  serviceManager?.stopping()
  log.info({ signal }, 'stopping: no new requests; finishing those that run')
  let failure: string | undefined
  try {
    await app.close(grace)
    await database.close()
    lock?.release()
    log.info('stopped')
  } catch (error) {
    failure = describeFailure(error)
  }
  await waitForDisk()
  await serviceManager?.close()
  await closeLog()
  if (failure !== undefined) process.stderr.write(`switchboard: ${failure}\n`)
  process.exit(failure === undefined ? 0 : 1)
}

/** Node waits at its exit for file operations under way, and on a hanging disk it would wait for ever. */
async function waitForDisk(): Promise<void> {
  while (process.getActiveResourcesInfo().some((kind) => kind.startsWith('FSReq'))) await wait(pollMilliseconds)
}

/** Acknowledged writes are on the disk, and the next start clears up the rest. */
async function kill(log: Log, closeLog: () => Promise<void>): Promise<void> {
  log.error('the stop took too long: something under way does not end; killing the process')
  await closeLog()
  process.kill(process.pid, 'SIGKILL')
}
