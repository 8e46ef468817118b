import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import type { ListOptions } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { scheduleNameTaken } from './errors.ts'
import { checkNewSchedule, toSchedule, toStoredSchedule } from './rules.ts'
import { newScheduleSchema, scheduleFields, scheduleListSchema, scheduleStatuses, scheduleTypes } from './schemas.ts'
import { insertSchedule, listSchedules, statusAt } from './store.ts'
import { scheduleEntries } from './world.ts'

const scheduleList: ListOptions = {
  maxLimit: 100,
  idColumn: 'id',
  sortable: true,
  defaultSort: 'created_time.desc',
  sorts: {
    'created_time.asc': { column: 'created_time', direction: 'asc' },
    'created_time.desc': { column: 'created_time', direction: 'desc' },
    'updated_time.asc': { column: 'updated_time', direction: 'asc' },
    'updated_time.desc': { column: 'updated_time', direction: 'desc' },
  },
  filters: {
    status: { expression: statusAt, values: scheduleStatuses },
    schedule_type: { expression: sql.ref('schedule_type'), values: scheduleTypes },
    is_active: { expression: sql.ref('is_active'), values: [true, false] },
  },
}

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    schedule: true
  }
}

export const schedulesChapter: Chapter = {
  name: 'schedules',
  title: 'Schedules',
  nodes: { schedule: { called: 'a schedule', named: { table: 'schedules', columns: ['name'] } } },
  rows: scheduleOperations,
  world: [scheduleEntries],
}

function scheduleOperations(): NewOperation[] {
  return [
    defineRead({
      name: 'schedules.list',
      method: 'GET',
      path: '/{Version}/{Account-ID}/schedules',
      sentence: 'Lists the schedules of an account.',
      permission: 'management',
      fields: { available: scheduleFields, defaults: scheduleFields, mode: 'replace' },
      list: scheduleList,
      input: Type.Object({}),
      output: scheduleListSchema,
      examples: {
        input: {
          filtering: '[{"field":"status","operator":"EQUAL","value":"ACTIVE"}]',
          sort: 'created_time.desc',
          limit: 1,
        },
        output: {
          data: [
            {
              id: '7000000000000001',
              name: 'Hours',
              status: 'ACTIVE',
              schedule_type: 'BUSINESS_HOURS',
              description: 'When somebody answers.',
              start_time: '09:00',
              end_time: '17:00',
              timezone: 'America/New_York',
              days_of_week: ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'],
              created_time: '2026-06-01T12:00:00.000Z',
              updated_time: '2026-06-01T12:00:00.000Z',
              is_active: true,
              recurrence_pattern: { frequency: 'WEEKLY', interval: 1 },
            },
          ],
          paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
        },
      },
      async run({ db, node, page, project }) {
        return page.fetch(
          (range) => listSchedules(db, node, page.now, range),
          (row) => project(toSchedule(row)),
        )
      },
    }),
    defineWrite({
      name: 'schedules.create',
      method: 'POST',
      path: '/{Version}/{Account-ID}/schedules',
      sentence: 'Creates a schedule in an account.',
      permission: 'management',
      rateClass: 'schedule_creation',
      input: newScheduleSchema,
      output: Type.Object({ id: Type.String() }),
      examples: {
        input: {
          name: 'Summer hours',
          schedule_type: 'BUSINESS_HOURS',
          description: 'Open longer while it is light.',
          start_time: '08:00',
          end_time: '20:00',
          timezone: 'America/New_York',
          days_of_week: ['SATURDAY', 'SUNDAY'],
          recurrence_pattern: { frequency: 'WEEKLY', interval: 1, end_date: '2036-08-31' },
        },
        output: { id: '7000000000000003' },
      },
      async run({ db, node, clock, random }, input) {
        const now = clock.now()
        checkNewSchedule(input, now)
        const schedule = { ...toStoredSchedule(input), created_time: now, updated_time: now }
        const id = await insertSchedule(db, random, node, schedule)
        if (id === undefined) throw scheduleNameTaken()
        return { id }
      },
    }),
  ]
}
