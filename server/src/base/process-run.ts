import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * The name of this run of this process: the machine, the namespace of process ids (each container on a machine has its own), the
 * process id, and the start time, because ids are reused.
 */
export function nameOwnRun(): string {
  return [encodeURIComponent(hostname()), findIdSpace(), process.pid, Math.floor(performance.timeOrigin)].join('~')
}

/** Whether a run is known to have ended. False for a run on another machine, which cannot be checked. */
export function hasEnded(run: string): boolean {
  const [host, space, pid, started] = run.split('~')
  const [ownHost, ownSpace, ownPid, ownStarted] = nameOwnRun().split('~')
  if (started === undefined || host !== ownHost || space !== ownSpace) return false
  if (pid === ownPid) return started !== ownStarted
  return !isRunning(Number(pid))
}

function isRunning(pid: number): boolean {
  try {
    // Signal 0 is not delivered; it only checks that the process exists.
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
    // Only Linux has such namespaces.
    return ''
  }
}
