import { type Static, Type } from 'typebox'
import type { SchedulesTable } from '../../db/tables.ts'
import { pickGiven, type Whole, withoutGaps } from '../../world-part/entries.ts'
import { defineWorldPart, exportRows } from '../../world-part/part.ts'
import { Repeats } from '../../world-part/problems.ts'
import { readRows, upsertNodes, vacate } from '../../world-part/rows.ts'
import { idSchema } from '../../world-part/schemas.ts'
import { accountEntries } from '../account/world.ts'
import { findExpiry, findScheduleProblems, readScheduleState, toStoredSchedule } from './rules.ts'
import { scheduleMembers, scheduleStatuses } from './schemas.ts'

const schema = Type.Object({ id: idSchema, ...scheduleMembers, status: Type.Optional(Type.Enum(scheduleStatuses)) })

export const scheduleEntries = defineWorldPart({
  key: 'schedules',
  form: 'list',
  under: accountEntries,
  schema,
  nodes: [{ kind: 'schedule', key: 'id' }],
  checkFile(problems) {
    const names = new Repeats(problems)
    return ({ given, place, parent }) => {
      problems.addAll(place, findScheduleProblems(given))
      names.note(`${parent.given.id} ${given.name}`, `${place}.name`, 'that name in the same account')
    }
  },
  async checkStore(schedules, { tx, problems }) {
    const byId = new Map(schedules.map((schedule) => [schedule.given.id, schedule]))
    const leaving = new Set<string>()
    for await (const row of readRows(tx, 'schedules', 'id', ['id', 'name'], [...byId.keys()])) {
      if (byId.get(row.id)?.given.name !== row.name) leaving.add(row.id)
    }
    const byName = new Map(
      schedules.map((schedule) => [`${schedule.parent.given.id} ${schedule.given.name}`, schedule]),
    )
    const accounts = [...new Set(schedules.map(({ parent }) => parent.given.id))]
    for await (const row of readRows(tx, 'schedules', 'account_id', ['id', 'account_id', 'name'], accounts)) {
      const schedule = byName.get(`${row.account_id} ${row.name}`)
      if (!schedule || schedule.given.id === row.id || leaving.has(row.id)) continue
      problems.add(
        `${schedule.place}.name`,
        `the store has that name in the same account, for schedule ${row.id}; choose another.`,
      )
    }
    return vacate('schedules', 'name', [...leaving])
  },
  write: (schedules, context) =>
    upsertNodes(context, 'schedules', schedules, {
      create: ({ given, parent }) => ({
        id: given.id,
        account_id: parent.given.id,
        ...toStoredSchedule(given),
        created_time: context.now,
        updated_time: context.now,
      }),
      change: ({ given: { id: _id, status, is_active, ...given } }, stored) => ({
        ...readScheduleState({ status, is_active }),
        ...pickGiven(given),
        expires_time: findExpiry({
          timezone: given.timezone ?? stored.timezone,
          recurrence_pattern: given.recurrence_pattern ?? stored.recurrence_pattern,
        }),
      }),
      touch: { updated_time: context.now },
    }),
  export: exportRows({
    table: 'schedules',
    of: 'account_id',
    toEntries: (schedules) =>
      schedules.map((schedule) =>
        withoutGaps<Whole<Static<typeof schema>>>({
          id: schedule.id,
          name: schedule.name,
          schedule_type: schedule.schedule_type,
          status: schedule.status,
          is_active: schedule.is_active,
          description: schedule.description,
          start_time: schedule.start_time,
          end_time: schedule.end_time,
          timezone: schedule.timezone,
          days_of_week: schedule.days_of_week,
          recurrence_pattern: schedule.recurrence_pattern && toRecurrenceEntry(schedule.recurrence_pattern),
        }),
      ),
  }),
})

function toRecurrenceEntry({
  frequency,
  interval,
  end_date,
}: NonNullable<SchedulesTable['recurrence_pattern']>): object {
  return withoutGaps({ frequency, interval, end_date })
}
