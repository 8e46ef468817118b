import { sql } from 'kysely'
import { Type } from 'typebox'
import { defineRead } from '../../graph/define.ts'
import { readTimestamp, timestampSchema, writeTimestamp } from '../../graph/input/timestamps.ts'
import { newestFirst, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { activityTypeOf, activityTypes } from './activity-types.ts'
import { type ActivityWithActor, listActivitiesWithActors } from './store.ts'

const optional = Type.Optional
const actorTypes = ['USER', 'SYSTEM', 'API', 'ADMIN', 'AUTOMATED_PROCESS'] as const

/** An activity as the public document has it. */
const publicActivitySchema = Type.Object({
  id: optional(Type.String()),
  activity_type: optional(Type.Enum(activityTypes)),
  timestamp: optional(Type.String({ format: 'date-time' })),
  actor_type: optional(
    Type.Enum(actorTypes, {
      description: 'USER: somebody who was signed in to the console; ADMIN: an operator; API: an app.',
    }),
  ),
  actor_id: optional(Type.String({ description: 'The app whose token did it.' })),
  actor_name: optional(Type.String({ description: 'The name of that app.' })),
  details: optional(
    Type.Object(
      {
        operation: Type.String({ description: 'The name of the operation.' }),
        node_id: Type.String({ description: 'What it was done to.' }),
        node_kind: Type.String(),
        business_id: Type.String({ description: 'The business of the app.' }),
        token_id: Type.String({ description: 'The id of the token, never its secret.' }),
        trace: Type.String({ description: 'The trace of the request.' }),
      },
      { description: 'What the service records of it.' },
    ),
  ),
  ip_address: optional(Type.String({ description: 'Where the request came from.' })),
})

const fields = Object.keys(publicActivitySchema.properties)

/** The list of activities in the shape of the public document. */
export function listPublicActivities(): NewOperation {
  return defineRead({
    name: 'audit.list_activities',
    method: 'GET',
    path: '/{Version}/{Account-ID}/activities',
    sentence: 'Lists the writes to an account and its objects, newest first.',
    permission: 'management',
    fields: { available: fields, defaults: fields, mode: 'replace' },
    list: newestFirst(100, 'time'),
    input: Type.Object({
      activity_type: optional(Type.Enum(activityTypes, { description: 'Only activities of this type.' })),
      since: optional(timestampSchema('Only what was done since then.')),
      until: optional(timestampSchema('Only what was done before then.')),
    }),
    output: Type.Object({ data: Type.Array(publicActivitySchema), paging: pagingSchema }),
    examples: {
      input: { limit: 1 },
      output: {
        data: [
          {
            id: '1042',
            activity_type: 'ACCOUNT_UPDATED',
            timestamp: '2026-06-01T12:00:00.000Z',
            actor_type: 'API',
            actor_id: '3000000000000001',
            actor_name: 'Lucky Shrub Console',
            details: {
              operation: 'account.update',
              node_id: '1000000000000001',
              node_kind: 'account',
              business_id: '2000000000000001',
              token_id: 't0011223344556677',
              trace: '4bf92f3577b34da6a3ce929d0e0e4736',
            },
            ip_address: '127.0.0.1',
          },
        ],
        paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
      },
    },
    async run({ db, node, page, project }, { activity_type, since, until }) {
      const period = { since: readTime('since', since, page.now), until: readTime('until', until, page.now) }
      const isFiltered = [activity_type, since, until].some((filter) => filter !== undefined)
      return page.fetch(
        (range) => listActivitiesWithActors(db, node, { activity_type, ...period }, range),
        (row) => project(showActivity(row)),
        isFiltered
          ? {
              db,
              table: 'activities',
              by: sql`account_id = ${node.id}`,
              bounds: { atLeast: period.since, below: period.until },
            }
          : undefined,
      )
    },
  })
}

/** Clients of the public platform also write a time in seconds. */
function readTime(argument: string, text: string | undefined, now: number): number | undefined {
  return text !== undefined && /^\d{9,11}$/.test(text) ? Number(text) * 1000 : readTimestamp(argument, text, now)
}

function showActivity(row: ActivityWithActor): Record<string, unknown> {
  const { operation, node_id, node_kind, trace } = row
  return {
    id: String(row.id),
    activity_type: activityTypeOf(operation),
    timestamp: writeTimestamp(row.time),
    actor_type: row.is_session ? 'USER' : operation.startsWith('operator.') ? 'ADMIN' : 'API',
    actor_id: row.actor_app_id,
    ...(row.app_name !== null && { actor_name: row.app_name }),
    details: {
      operation,
      node_id,
      node_kind,
      business_id: row.actor_business_id,
      token_id: row.actor_token_id,
      trace,
    },
    ip_address: row.remote_address,
  }
}
