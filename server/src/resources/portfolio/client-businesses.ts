import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import type { Caller } from '../../graph/caller.ts'
import { defineRead } from '../../graph/define.ts'
import { writeTimestamp } from '../../graph/input/timestamps.ts'
import { newestFirst, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { type Grant, listClientBusinesses, scanClientBusinesses } from './client-business-store.ts'

const members = {
  id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  created_time: Type.Optional(
    Type.String({ format: 'date-time', description: 'When it gave the app access for the first time.' }),
  ),
}

const neverKnown = 'Taken as a field, and left out of the response: nothing here knows it.'

/** In the types of client libraries. */
const libraryMembers = {
  business_status: Type.Optional(Type.Literal('ACTIVE')),
  verification_status: Type.Optional(Type.String({ description: neverKnown })),
  updated_time: Type.Optional(Type.String({ description: neverKnown })),
}

/** The businesses whose accounts an app reaches. */
export function clientBusinessOperations({ habits }: Vocabulary): NewOperation[] {
  const shown = Type.Object({ ...members, ...(habits.library_fields && libraryMembers) })
  return [
    defineRead({
      name: 'portfolio.list_client_businesses',
      method: 'GET',
      path: '/{Version}/{Application-ID}/connected_client_businesses',
      sentence:
        'Lists the businesses that gave an app access to an account, by signing up, by sharing it or for onboarding, the newest first.',
      permission: 'management',
      fields: { available: Object.keys(shown.properties), defaults: Object.keys(members), mode: 'replace' },
      list: newestFirst(100),
      input: Type.Object({}),
      output: Type.Object({ data: Type.Array(shown), paging: pagingSchema }),
      examples: {
        node: '3000000000000002',
        by: 'partner',
        input: { limit: 1 },
        output: {
          data: [{ id: '2000000000000001', name: 'Lucky Shrub', created_time: '2026-06-01T12:00:00.000Z' }],
          paging: { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } },
        },
      },
      async run({ db, node, caller, page, project }) {
        const grant = await findGrant(db, caller)
        return page.fetch(
          (range) => listClientBusinesses(db, node, grant, range),
          ({ id, name, created_time }) =>
            project({ id, name, created_time: writeTimestamp(created_time), business_status: 'ACTIVE' }),
          scanClientBusinesses(db, node, grant),
        )
      },
    }),
  ]
}

/** The app's own token is for no account, but the list is about the app: it shows all of it. */
async function findGrant(db: Db, { token_id, accounts }: Caller): Promise<Grant> {
  if (accounts?.size !== 0) return { accounts }
  const token = await db.query.selectFrom('tokens').select('is_of_app').where('id', '=', token_id).executeTakeFirst()
  return { accounts: token?.is_of_app ? undefined : accounts }
}
