import { endOfDay, isTimeZone } from '../../base/time/time-zones.ts'
import type { SchedulesTable } from '../../db/tables.ts'
import { type ArgumentProblem, badArgument } from '../../graph/define-error.ts'
import { endDatePast, scheduleTimeAlone, scheduleTimesEqual, timeZoneUnknown } from './errors.ts'
import type { RecurrencePattern, ScheduleMembers } from './schemas.ts'

const defaultTimezone = 'UTC'

/** Violations of the chapter's rules by members that are valid by themselves. */
export function findScheduleProblems(schedule: Partial<ScheduleMembers>): ArgumentProblem[] {
  const problems: ArgumentProblem[] = []
  const { start_time, end_time, timezone } = schedule
  if (start_time !== undefined && end_time === undefined) {
    problems.push(scheduleTimeAlone('end_time', { other: 'start_time' }))
  }
  if (end_time !== undefined && start_time === undefined) {
    problems.push(scheduleTimeAlone('start_time', { other: 'end_time' }))
  }
  if (start_time !== undefined && start_time === end_time) {
    problems.push(scheduleTimesEqual('end_time'))
  }
  if (timezone !== undefined && !isTimeZone(timezone)) problems.push(timeZoneUnknown('timezone'))
  return problems
}

/** A schedule made through the API must end in the future; a world file may describe the past. */
export function checkNewSchedule(schedule: ScheduleMembers, now: number): void {
  for (const problem of findScheduleProblems(schedule)) throw badArgument(problem)
  const { timezone = defaultTimezone } = schedule
  const expires_time = findExpiry(schedule)
  if (expires_time !== null && expires_time <= now) throw endDatePast({ timezone })
}

/** When the last day of a schedule ends in its own time zone; null when it has no end. */
export function findExpiry({
  timezone = defaultTimezone,
  recurrence_pattern,
}: {
  timezone?: string
  recurrence_pattern?: { end_date?: string } | null
}): number | null {
  const end_date = recurrence_pattern?.end_date
  return end_date === undefined ? null : endOfDay(end_date, timezone)
}

/** The state that `status` and `is_active` describe together: each implies the other. */
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

/** The columns of a new schedule, with defaults. */
export function toStoredSchedule(
  given: ScheduleMembers & { status?: string },
): Omit<SchedulesTable, 'id' | 'account_id' | 'created_time' | 'updated_time'> {
  const { status, is_active } = given
  return {
    name: given.name,
    status: 'ACTIVE',
    is_active: true,
    ...readScheduleState({ status, is_active }),
    schedule_type: given.schedule_type,
    description: given.description ?? null,
    start_time: given.start_time ?? null,
    end_time: given.end_time ?? null,
    timezone: given.timezone ?? defaultTimezone,
    days_of_week: given.days_of_week ?? null,
    recurrence_pattern: given.recurrence_pattern ? pickPattern(given.recurrence_pattern) : null,
    expires_time: findExpiry(given),
  }
}

/** Unknown members are ignored, here too. */
function pickPattern({ frequency, interval, end_date }: RecurrencePattern): RecurrencePattern {
  return {
    ...(frequency !== undefined && { frequency }),
    ...(interval !== undefined && { interval }),
    ...(end_date !== undefined && { end_date }),
  }
}

/** A schedule in responses. */
export function toSchedule<Row extends Pick<SchedulesTable, 'created_time' | 'updated_time'>>(row: Row) {
  return {
    ...row,
    created_time: new Date(row.created_time).toISOString(),
    updated_time: new Date(row.updated_time).toISOString(),
  }
}
