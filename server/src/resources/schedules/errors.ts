import { defineError, defineProblem } from '../../graph/define-error.ts'

export const scheduleTimeAlone = defineProblem({
  id: 'schedule_time_alone',
  text: 'it is required together with {other}.',
})
export const scheduleTimesEqual = defineProblem({
  id: 'schedule_times_equal',
  text: 'it must differ from start_time; one before it means the next day.',
})
export const timeZoneUnknown = defineProblem({
  id: 'time_zone_unknown',
  text: 'it must be a time zone of the IANA database such as America/New_York.',
})
export const endDatePast = defineError({
  id: 'end_date_past',
  status: 400,
  text: 'recurrence_pattern.end_date: it must be the date of today in {timezone} or a later one.',
})
export const scheduleNameTaken = defineError({
  id: 'schedule_name_taken',
  status: 422,
  text: 'The account has a schedule of that name already; choose another name.',
})
