import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * The name of this run of this process. It tells the machine, the space in which process ids mean something (containers of
 * one machine each have their own), the id, and when the process started, because ids are given again.
 */
export function nameOwnRun(): string {
  return [encodeURIComponent(hostname()), findIdSpace(), process.pid, Math.floor(performance.timeOrigin)].join('~')
}

/** Whether a run is known to have ended. Of another machine's nothing is known, so it is not. */
export function hasEnded(run: string): boolean {
  const [host, space, pid, started] = run.split('~')
  const [ownHost, ownSpace, ownPid, ownStarted] = nameOwnRun().split('~')
  if (started === undefined || host !== ownHost || space !== ownSpace) return false
  if (pid === ownPid) return started !== ownStarted
  return !isRunning(Number(pid))
}

function isRunning(pid: number): boolean {
  try {
    // Signal 0 is sent to nobody; it only asks.
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function findIdSpace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
  } catch {
    // Only Linux has such spaces.
    return ''
  }
}
