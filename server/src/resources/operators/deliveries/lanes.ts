import { type Static, Type } from 'typebox'
import { parseDuration } from '../../../base/time/duration.ts'
import { isDown } from '../../../delivery/rules/pause.ts'
import { defineOperatorRead, defineOperatorWrite } from '../../../graph/define.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { notFound } from '../../../graph/errors.ts'
import { writeTimestamp } from '../../../graph/input/timestamps.ts'
import { type ListOptions, pagingSchema } from '../../../graph/lists/paging.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { Recorded } from '../../../graph/result.ts'
import { idSchema } from '../../../graph/schemas.ts'
import { laneActionUnclear, notADuration } from '../errors.ts'
import { exampleCursors } from '../examples.ts'
import {
  findLaneForOperators,
  type LaneRow,
  listLanesForOperators,
  resumeLaneForOperators,
  stopLaneForOperators,
} from './lane-store.ts'

/** The end of a pause without one. */
const forever = Date.parse('9999-12-31T23:59:59Z')

const laneList: ListOptions = {
  maxLimit: 1000,
  idColumn: 'id',
  sortable: false,
  defaultSort: 'id.asc',
  sorts: { 'id.asc': { column: 'id', direction: 'asc' } },
}

const laneSchema = Type.Object({
  id: Type.String(),
  app_id: Type.String(),
  app_name: Type.String(),
  business_id: Type.String(),
  callback_url: Type.String({ description: 'The subscriber: an app at this address.' }),
  conversations: Type.Integer({ description: 'In how many conversations something waits.' }),
  waiting: Type.Integer({ description: 'How many deliveries wait.' }),
  oldest_age: Type.Union([Type.Integer(), Type.Null()], {
    description: 'For how many seconds the oldest has waited; null when none waits.',
  }),
  failures: Type.Integer({ description: 'How many deliveries failed since the last success.' }),
  down: Type.Boolean({ description: 'Whether so many failed that one at a time is sent.' }),
  paused_until: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description:
      'Nothing is sent before; null: it is not paused. 9999-12-31 when an operator paused it without an end.',
  }),
  paused_by_operator: Type.Boolean(),
  subscribed: Type.Boolean({
    description: 'Whether events still go there; false: the app had this address before, or is linked to no account.',
  }),
  listener: Type.Boolean({
    description: 'Whether it is ./switchboard listen, in the place of the callback of the app.',
  }),
})

const exampleLane = {
  id: '9f86d081884c7d659a2feaa0c55ad015',
  app_id: '3000000000000001',
  app_name: 'Shrub CRM',
  business_id: '2000000000000001',
  callback_url: 'http://127.0.0.1:9000/hook',
  conversations: 1,
  waiting: 2,
  oldest_age: 12,
  failures: 0,
  down: false,
  paused_until: '2026-06-01T13:00:00.000Z',
  paused_by_operator: true,
  subscribed: true,
  listener: false,
}

const actSchema = Type.Object({
  lane_id: idSchema({ description: 'The id of the subscriber, from the list of lanes.' }),
  action: Type.Optional(Type.Enum(['pause', 'resume'], { description: 'Whether its deliveries stop or go on.' })),
  pause: Type.Optional(Type.Boolean({ description: 'True: the same as the action pause.' })),
  resume: Type.Optional(Type.Boolean({ description: 'True: the same as the action resume.' })),
  for: Type.Optional(
    Type.String({ maxLength: 20, description: 'How long to pause, such as 30m; left out: until it is resumed.' }),
  ),
})

/** The subscribers of webhooks. */
export function laneOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.list_lanes',
      method: 'GET',
      path: '/operator/lanes',
      sentence: 'Lists the subscribers of webhooks, each with its waiting deliveries and its health.',
      list: laneList,
      input: Type.Object({
        app_id: Type.Optional(idSchema({ description: 'Only those of this app.' })),
        waiting: Type.Optional(
          Type.Boolean({ description: 'true: only those with waiting deliveries; false: only those without.' }),
        ),
      }),
      output: Type.Object({ data: Type.Array(laneSchema), paging: pagingSchema }),
      examples: { input: { limit: 1 }, output: { data: [exampleLane], paging: exampleCursors } },
      async run({ db, limits, page }, { app_id, waiting }) {
        return page.fetch(
          (range) => listLanesForOperators(db, limits, { app_id, waiting }, range),
          (row) => showLane(row, page.now),
          { db, table: 'lanes' },
        )
      },
    }),
    defineOperatorWrite({
      name: 'operator.act_on_lane',
      method: 'POST',
      path: '/operator/lanes/{lane_id}',
      sentence: 'Pauses a subscriber, so that its deliveries wait, or resumes it.',
      input: actSchema,
      output: laneSchema,
      examples: {
        input: { lane_id: exampleLane.id, action: 'pause', for: '1h' },
        output: exampleLane,
        first: [
          { send: 'receiver.post' },
          { send: 'operator.list_lanes', take: { pointer: '/data/0/id', as: 'lane_id' } },
        ],
      },
      async run({ db, clock, limits }, input) {
        const action = readAction(input)
        const now = clock.now()
        const until = input.for === undefined ? forever : now + readLength(input.for)
        const lane = await findLaneForOperators(db, limits, input.lane_id)
        if (!lane) throw notFound()
        const { id, app_id, callback_url, business_id } = lane
        if (action === 'pause') await stopLaneForOperators(db, id, until)
        else await resumeLaneForOperators(db, id, now)
        db.makeDue({ lanes: [{ id, app_id, callback_url }] })
        const changed = await findLaneForOperators(db, limits, id)
        return new Recorded(showLane(changed ?? lane, now), { id, kind: 'lane', business_id })
      },
    }),
  ]
}

function readAction({ action, pause = false, resume = false }: Static<typeof actSchema>): 'pause' | 'resume' {
  const asked = new Set([...(action ? [action] : []), ...(pause ? ['pause'] : []), ...(resume ? ['resume'] : [])])
  const [only] = asked
  if (asked.size !== 1 || only === undefined) throw laneActionUnclear()
  return only as 'pause' | 'resume'
}

function readLength(text: string): number {
  const length = parseDuration(text)
  if (!length) throw badArgument(notADuration('for'))
  return length
}

function showLane(row: LaneRow, now: number): Static<typeof laneSchema> {
  const { id, app_id, app_name, business_id, callback_url, failures, stopped_until, oldest } = row
  const until = Math.max(row.paused_until, stopped_until)
  return {
    id,
    app_id,
    app_name,
    business_id,
    callback_url,
    conversations: Number(row.conversations),
    waiting: Number(row.waiting),
    oldest_age: oldest === null ? null : Math.max(0, Math.round((now - Number(oldest)) / 1000)),
    failures,
    down: isDown({ failures }),
    paused_until: until > now ? writeTimestamp(until) : null,
    paused_by_operator: stopped_until > now,
    subscribed: Boolean(row.subscribed),
    listener: Boolean(row.listener),
  }
}
