import { type Static, Type } from 'typebox'
import { pagingSchema } from '../../graph/lists/paging.ts'

export const scheduleStatuses = ['ACTIVE', 'INACTIVE', 'PAUSED', 'EXPIRED', 'DRAFT'] as const
export const scheduleTypes = [
  'BUSINESS_HOURS',
  'AUTOMATED_RESPONSE',
  'MESSAGE_CAMPAIGN',
  'MAINTENANCE_WINDOW',
  'CUSTOM',
] as const
export const daysOfWeek = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const
const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const

const timeOfDay = Type.Optional(
  Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', maxLength: 5, 'x-expects': 'a time of day such as "09:00"' }),
)

const recurrencePatternSchema = Type.Object(
  {
    frequency: Type.Optional(Type.Enum(frequencies, { description: 'What `interval` counts.' })),
    interval: Type.Optional(
      Type.Integer({ minimum: 1, description: '1: every day, week, month or year; 2: every other.' }),
    ),
    end_date: Type.Optional(
      Type.String({ format: 'date', maxLength: 10, description: "The last day, in the schedule's own time zone." }),
    ),
  },
  { description: 'How the schedule repeats.' },
)
export type RecurrencePattern = Static<typeof recurrencePatternSchema>

/** The members of a schedule; the rules check their combinations. */
export const scheduleMembers = {
  name: Type.String({ minLength: 1, maxLength: 100, description: 'What the schedule is called.' }),
  schedule_type: Type.Enum(scheduleTypes, { description: 'What the schedule is for.' }),
  description: Type.Optional(Type.String({ maxLength: 500, description: 'More about it.' })),
  start_time: timeOfDay,
  end_time: timeOfDay,
  timezone: Type.Optional(Type.String({ maxLength: 100, description: 'An IANA time zone; UTC when left out.' })),
  days_of_week: Type.Optional(
    Type.Array(Type.Enum(daysOfWeek), {
      maxItems: daysOfWeek.length,
      uniqueItems: true,
      description: 'The days that it is for.',
    }),
  ),
  is_active: Type.Optional(Type.Boolean({ description: 'Whether it is switched on.' })),
  recurrence_pattern: Type.Optional(recurrencePatternSchema),
}

export const newScheduleSchema = Type.Object(scheduleMembers)
export type ScheduleMembers = Static<typeof newScheduleSchema>

/** A schedule in lists; `fields` may leave out any member, and any may have no value. */
const scheduleSchema = Type.Object({
  id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  status: Type.Optional(
    Type.Enum(scheduleStatuses, { description: 'EXPIRED once the last day of an active schedule is over.' }),
  ),
  schedule_type: Type.Optional(Type.Enum(scheduleTypes)),
  description: Type.Optional(Type.String()),
  start_time: Type.Optional(Type.String({ description: 'HH:MM.' })),
  end_time: Type.Optional(Type.String({ description: 'HH:MM; one before start_time is on the next day.' })),
  timezone: Type.Optional(Type.String({ description: 'An IANA time zone.' })),
  days_of_week: Type.Optional(Type.Array(Type.Enum(daysOfWeek))),
  created_time: Type.Optional(Type.String({ format: 'date-time' })),
  updated_time: Type.Optional(Type.String({ format: 'date-time' })),
  is_active: Type.Optional(Type.Boolean({ description: 'Whether it is switched on.' })),
  recurrence_pattern: Type.Optional(recurrencePatternSchema),
})
export const scheduleFields = Object.keys(scheduleSchema.properties)

export const scheduleListSchema = Type.Object({ data: Type.Array(scheduleSchema), paging: pagingSchema })
