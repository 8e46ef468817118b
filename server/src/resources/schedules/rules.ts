import type { Problem } from '../../graph/validation.ts'
import type { ScheduleMembers } from './schemas.ts'

export const defaultTimezone = 'UTC'

/** What breaks the chapter's rules, though each member by itself has the right form. */
export function findScheduleProblems(schedule: Partial<ScheduleMembers>): Problem[] {
  const problems: Problem[] = []
  const { start_time, end_time, timezone } = schedule
  if (start_time !== undefined && end_time === undefined) {
    problems.push({ place: 'end_time', problem: 'it is required together with start_time.' })
  }
  if (end_time !== undefined && start_time === undefined) {
    problems.push({ place: 'start_time', problem: 'it is required together with end_time.' })
  }
  if (start_time !== undefined && start_time === end_time) {
    problems.push({ place: 'end_time', problem: 'it must differ from start_time; one before it means the next day.' })
  }
  if (timezone !== undefined && !isTimeZone(timezone)) {
    problems.push({
      place: 'timezone',
      problem: 'it must be a time zone of the IANA database such as America/New_York.',
    })
  }
  return problems
}

/** Zones have names; a bare offset such as +01:00, which the runtime would take too, is none. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** The state that `status` and `is_active` describe together: the one that is given tells the other. */
export function readScheduleState(given: { status?: string; is_active?: boolean }): {
  status?: string
  is_active?: boolean
} {
  const { status, is_active } = given
  if (status === undefined && is_active === undefined) return {}
  return {
    status: status ?? (is_active ? 'ACTIVE' : 'INACTIVE'),
    is_active: is_active ?? status === 'ACTIVE',
  }
}
