import { type Static, Type } from 'typebox'
import { writeScope } from '../../auth/scopes.ts'
import type { Scope } from '../../graph/caller.ts'
import { defineOperatorRead, defineOperatorWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import { writeTimestamp } from '../../graph/input/timestamps.ts'
import { newestFirst, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewRow } from '../../graph/operation.ts'
import { Recorded } from '../../graph/result.ts'
import { idSchema, successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { exampleCursors, exampleTime } from '../operators/public.ts'
import {
  findConnectionForOperators,
  type ListedConnection,
  listConnectionsForOperators,
  scanConnections,
} from './connection-store.ts'
import { endConnection } from './connections.ts'

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const connectionSchema = Type.Object({
  id: Type.String(),
  app_id: Type.String({ description: 'The app that the account is connected to.' }),
  app_name: textOrNull('Its name.'),
  business_id: Type.String({ description: 'The business that connected its account.' }),
  business_name: textOrNull('Its name.'),
  account_id: Type.String(),
  account_name: textOrNull('The name of the account.'),
  phone_number_id: textOrNull('The number that was chosen; null: none.'),
  user: Type.Object(
    { id: Type.String(), name: textOrNull('The name.'), email: textOrNull('The e-mail address.') },
    { description: 'Who agreed.' },
  ),
  scopes: Type.Array(Type.String(), { description: 'What was agreed to and not taken back.' }),
  created_time: Type.String({
    format: 'date-time',
    description: 'When the account was connected. Agreeing again while it lasts leaves it.',
  }),
  ended_time: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: 'Null while it lasts.' }),
})

const exampleConnection = {
  id: 'c0011223344556677',
  app_id: '3000000000000002',
  app_name: 'Partner Suite',
  business_id: '2000000000000001',
  business_name: 'Lucky Shrub',
  account_id: '1000000000000001',
  account_name: 'Lucky Shrub Retail',
  phone_number_id: '4000000000000001',
  user: { id: '2300000000000001', name: 'Ada Shrub', email: 'ada@lucky-shrub.example' },
  scopes: ['msgapp_business_management', 'msgapp_business_messaging'],
  created_time: exampleTime,
  ended_time: null,
}

/** What came of sign-ups, for operators. */
export function connectionOperations(): NewRow[] {
  return [
    defineOperatorRead({
      name: 'operator.list_connections',
      method: 'GET',
      path: '/operator/connections',
      sentence: 'Lists the connections of accounts to apps that businesses made by sign-up, newest first.',
      list: newestFirst(1000),
      input: Type.Object({
        app_id: Type.Optional(idSchema({ description: 'Only those to this app.' })),
        business_id: Type.Optional(idSchema({ description: 'Only those of this business.' })),
        account_id: Type.Optional(idSchema({ description: 'Only those of this account.' })),
        state: Type.Optional(
          Type.Enum(['live', 'ended'] as const, {
            description: 'Only those that last, or only those that have ended.',
          }),
        ),
      }),
      output: Type.Object({ data: Type.Array(connectionSchema), paging: pagingSchema }),
      examples: { input: { state: 'live' }, output: { data: [exampleConnection], paging: exampleCursors } },
      async run({ db, page, limits, vocabulary }, filter) {
        return page.fetch(
          (range) => listConnectionsForOperators(db, limits, filter, range),
          (row) => showConnection(row, vocabulary),
          scanConnections(db, limits, filter),
        )
      },
    }),
    defineOperatorWrite({
      name: 'operator.end_connection',
      method: 'DELETE',
      path: '/operator/connections/{connection_id}',
      sentence:
        'Ends a connection: its tokens are revoked, the access that it gave is withdrawn, and the app is notified. One that has ended stays so.',
      input: Type.Object({ connection_id: idSchema({ description: 'The id of the connection.' }) }),
      output: successSchema,
      examples: {
        input: { connection_id: exampleConnection.id },
        output: { success: true },
        needs: 'A business has to have connected an account by sign-up.',
      },
      async run({ db, clock, random, limits }, { connection_id }) {
        const found = await findConnectionForOperators(db, limits, connection_id)
        if (!found) throw notFound()
        await endConnection(db, { clock, random }, found)
        const { id, business_id, account_id } = found
        return new Recorded({ success: true }, { id, kind: 'connection', business_id, account_id })
      },
    }),
  ]
}

function showConnection(
  { user_id, user_name, user_email, scopes, created_time, ended_time, ...row }: ListedConnection,
  vocabulary: Vocabulary,
): Static<typeof connectionSchema> {
  return {
    ...row,
    user: { id: user_id, name: user_name, email: user_email },
    scopes: (scopes as Scope[]).map((scope) => writeScope(scope, vocabulary)),
    created_time: writeTimestamp(created_time),
    ended_time: ended_time === null ? null : writeTimestamp(ended_time),
  }
}
