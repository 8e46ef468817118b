import { execFile } from 'node:child_process'
import type { Environment } from '../../base/environment.ts'
import type { Log } from '../../base/log/log.ts'
import { second } from '../../base/time/duration.ts'

/** The service manager that started this process and waits for its state: systemd, for a unit of `Type=notify`. */
export interface ServiceManager {
  ready(address: string): void
  stopping(): void
  /** Resolves when what was sent has been received. */
  close(): Promise<void>
}

const noManager: ServiceManager = { ready() {}, stopping() {}, close: () => Promise.resolve() }

/** systemd kills a process that was silent for the time of its watchdog: two signs of life may be lost. */
const signsPerWatchdog = 3
const sendTimeout = 10 * second

/**
 * Node.js has no datagram sockets of Unix, so `systemd-notify` sends for it. That program waits until systemd has read the message,
 * because systemd knows the unit of a sender only while the sender runs.
 */
export function findServiceManager(environment: Environment, log: Log): ServiceManager {
  const { NOTIFY_SOCKET, PATH } = environment
  if (!NOTIFY_SOCKET) return noManager
  // Not the settings of this process, which hold secrets.
  const env = { NOTIFY_SOCKET, ...(PATH !== undefined && { PATH }) }
  let last = Promise.resolve()
  let underWay = 0
  let isFailing = false
  const run = (states: readonly string[]) =>
    new Promise<void>((resolve) => {
      execFile('systemd-notify', states, { env, timeout: sendTimeout }, (err) => {
        if (err && !isFailing) log.warn({ err }, 'systemd was not notified: it may end this process')
        isFailing = err !== null
        resolve()
      })
    })
  // One after the other: systemd must read READY=1 before STOPPING=1.
  const send = (...states: readonly string[]): void => {
    underWay += 1
    last = last
      .then(() => run(states))
      .finally(() => {
        underWay -= 1
      })
  }
  // One at a time: while systemd is slow they would add up, and a stop would wait behind them.
  const giveSign = () => {
    if (underWay === 0) send('WATCHDOG=1')
  }
  let signs: NodeJS.Timeout | undefined
  return {
    ready(address) {
      send('READY=1', `STATUS=listening on ${address}`)
      const watchdog = readWatchdog(environment)
      if (watchdog !== undefined) signs = setInterval(giveSign, watchdog / signsPerWatchdog).unref()
    },
    stopping: () => send('STOPPING=1', 'STATUS=finishing what runs'),
    close() {
      clearInterval(signs)
      return last
    },
  }
}

/** Milliseconds; undefined: nobody watches this process. */
function readWatchdog({ WATCHDOG_USEC, WATCHDOG_PID }: Environment): number | undefined {
  const microseconds = Number(WATCHDOG_USEC)
  const isOurs = WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === process.pid
  return isOurs && microseconds > 0 ? microseconds / 1000 : undefined
}
