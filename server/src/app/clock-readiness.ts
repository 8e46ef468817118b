import type { Role } from '../settings/config.ts'
import type { ClockReadiness } from '../site/readiness.ts'
import type { ClockState } from '../timers/clock-guard.ts'

/**
 * A process with workers is not ready while its clock differs from the database's. One that only serves requests stays: if it is the
 * database's clock that is wrong, all of them would go, and times that are off by minutes do no harm. Beyond a jump of days they do:
 * what it writes would count as old, and be deleted at once.
 */
export function judgeClock({ hold, offset, ahead }: ClockState, role: Role, maxJump: number): ClockReadiness {
  if (hold === undefined) return { reason: undefined }
  if (hold === 'unchecked') return { reason: "the clock was not compared with the database's yet" }
  if (hold === 'jumped') {
    const warning = `time has jumped forward by ${describe(ahead)}: nothing is deleted or given up until ./switchboard clock accept`
    return { reason: undefined, warning }
  }
  const differs = `the clock is ${describe(Math.abs(offset))} ${offset > 0 ? 'ahead of' : 'behind'} the database's`
  if (role !== 'api' || Math.abs(offset) > maxJump) return { reason: differs }
  return { reason: undefined, warning: differs }
}

function describe(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  const hours = Math.round(seconds / 3600)
  return seconds < 7200 ? `${seconds} s` : hours < 96 ? `${hours} h` : `${Math.round(hours / 24)} days`
}
