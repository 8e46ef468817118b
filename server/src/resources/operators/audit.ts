import { type RawBuilder, sql } from 'kysely'
import { Type } from 'typebox'
import type { Caller } from '../../graph/caller.ts'
import type { OperatorLimits } from '../../graph/context.ts'
import { defineOperatorRead } from '../../graph/define.ts'
import { readTimestamp, timestampSchema, writeTimestamp } from '../../graph/input/timestamps.ts'
import { newestFirst, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { idSchema } from '../../graph/schemas.ts'
import { type Activity, listActivityPageForOperators, type NamedActivity } from '../audit/store.ts'
import { exampleCursors, exampleTime } from './examples.ts'
import { isSeen } from './limits.ts'

const recordSchema = Type.Object({
  id: Type.String(),
  time: Type.String({ format: 'date-time' }),
  operation: Type.String({ description: 'The name of the operation.' }),
  node_id: Type.String({ description: 'What it was done to.' }),
  node_kind: Type.String(),
  business_id: Type.String({ description: 'Whose that is; empty: the service as a whole, or several businesses.' }),
  account_id: Type.Union([Type.String(), Type.Null()]),
  actor_app_id: Type.String({ description: 'The app whose token did it.' }),
  actor_business_id: Type.String({ description: 'The business of that app.' }),
  actor_token_id: Type.String({ description: 'The id of the token, never its secret.' }),
  actor_name: Type.Optional(
    Type.String({ description: 'Who was signed in to the console; absent: the token is no session.' }),
  ),
  remote_address: Type.String({ description: 'Where the request came from.' }),
  trace: Type.String({ description: 'The trace of the request.' }),
})

/** Records of what this operator sees, and of what it did itself. */
export function isRecordSeen(limits: OperatorLimits | undefined, { token_id }: Caller): RawBuilder<boolean> {
  const owner = {
    account: sql.ref<string>('activities.account_id'),
    business: sql.ref<string>('activities.business_id'),
  }
  return limits ? sql`(${isSeen(limits, owner)} OR activities.actor_token_id = ${token_id})` : isSeen(limits, owner)
}

export function auditOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.list_audit',
      method: 'GET',
      path: '/operator/audit',
      sentence: 'Lists who did what to which node, when and from where, newest first.',
      list: newestFirst(1000, 'time'),
      input: Type.Object({
        account_id: Type.Optional(
          idSchema({ description: 'Only what was done to this account and what hangs on it.' }),
        ),
        business_id: Type.Optional(idSchema({ description: 'Only what was done to this business and what is its.' })),
        node_id: Type.Optional(idSchema({ description: 'Only what was done to this.' })),
        operation: Type.Optional(Type.String({ maxLength: 100, description: 'Only this operation.' })),
        token_id: Type.Optional(idSchema({ description: 'Only what was done with this token.' })),
        actor: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 256,
            description:
              'Only what was done by this one: the name of a console session, the id of a token, or that of an app.',
          }),
        ),
        since: Type.Optional(timestampSchema('Only what was done since then.')),
        until: Type.Optional(timestampSchema('Only what was done before then.')),
      }),
      output: Type.Object({ data: Type.Array(recordSchema), paging: pagingSchema }),
      examples: {
        input: { account_id: '1000000000000001', limit: 1 },
        output: {
          data: [
            {
              id: '1042',
              time: exampleTime,
              operation: 'account.update',
              node_id: '1000000000000001',
              node_kind: 'account',
              business_id: '2000000000000001',
              account_id: '1000000000000001',
              actor_app_id: '3000000000000001',
              actor_business_id: '2000000000000001',
              actor_token_id: 't0011223344556677',
              remote_address: '127.0.0.1',
              trace: '4bf92f3577b34da6a3ce929d0e0e4736',
            },
          ],
          paging: exampleCursors,
        },
      },
      async run({ db, caller, limits, page }, { since, until, ...filter }) {
        const period = {
          since: readTimestamp('since', since, page.now),
          until: readTimestamp('until', until, page.now),
        }
        return page.fetch(
          (range) => listActivityPageForOperators(db, isRecordSeen(limits, caller), { ...filter, ...period }, range),
          showActivity,
          {
            db,
            table: 'activities',
            by: filter.account_id === undefined ? undefined : sql`account_id = ${filter.account_id}`,
            bounds: { atLeast: period.since, below: period.until },
          },
        )
      },
    }),
  ]
}

function showActivity({ id, time, actor_name, ...activity }: Activity & Partial<NamedActivity>) {
  return {
    id: String(id),
    time: writeTimestamp(time),
    ...activity,
    ...(typeof actor_name === 'string' && { actor_name }),
  }
}
