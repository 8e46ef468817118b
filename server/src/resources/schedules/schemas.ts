import { type Static, Type } from 'typebox'

export const scheduleStatuses = ['ACTIVE', 'INACTIVE', 'PAUSED', 'EXPIRED', 'DRAFT'] as const
export const scheduleTypes = [
  'BUSINESS_HOURS',
  'AUTOMATED_RESPONSE',
  'MESSAGE_CAMPAIGN',
  'MAINTENANCE_WINDOW',
  'CUSTOM',
] as const
export const daysOfWeek = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const
export const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const

const timeOfDay = Type.Optional(
  Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', 'x-expects': 'a time of day such as "09:00"' }),
)

export const recurrencePatternSchema = Type.Object({
  frequency: Type.Optional(Type.Enum(frequencies)),
  interval: Type.Optional(Type.Integer({ minimum: 1 })),
  end_date: Type.Optional(Type.String({ format: 'date' })),
})

/** What a schedule is made of; which members go together is for the rules. */
export const scheduleMembers = {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  schedule_type: Type.Enum(scheduleTypes),
  description: Type.Optional(Type.String({ maxLength: 500 })),
  start_time: timeOfDay,
  end_time: timeOfDay,
  timezone: Type.Optional(Type.String({ description: 'An IANA time zone; UTC when left out.' })),
  days_of_week: Type.Optional(Type.Array(Type.Enum(daysOfWeek), { uniqueItems: true })),
  is_active: Type.Optional(Type.Boolean()),
  recurrence_pattern: Type.Optional(recurrencePatternSchema),
}

const scheduleSchema = Type.Object(scheduleMembers)
export type ScheduleMembers = Static<typeof scheduleSchema>
