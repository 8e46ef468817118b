import { type RawBuilder, sql } from 'kysely'
import { Type } from 'typebox'
import { hasAccess, isGranted } from '../../auth/access.ts'
import type { Db } from '../../db/database.ts'
import type { Caller } from '../../graph/caller.ts'
import { defineRead } from '../../graph/define.ts'
import { writeTimestamp } from '../../graph/input/timestamps.ts'
import { newestFirst, type PageRange, pagingSchema } from '../../graph/lists/paging.ts'
import type { Node } from '../../graph/nodes.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'

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
        )
      },
    }),
  ]
}

type Grant = Pick<Caller, 'accounts'>

/** The app's own token is for no account, but the list is about the app: it shows all of it. */
async function findGrant(db: Db, { token_id, accounts }: Caller): Promise<Grant> {
  if (accounts?.size !== 0) return { accounts }
  const token = await db.query.selectFrom('tokens').select('is_of_app').where('id', '=', token_id).executeTakeFirst()
  return { accounts: token?.is_of_app ? undefined : accounts }
}

interface ClientBusiness {
  readonly id: string
  readonly name: string
  readonly created_time: number
}

/**
 * A business is listed while the app's business has access to one of its accounts; the time is that of the first of what gave it. Each
 * part is found by an index of its own, and grows with the clients of one app.
 */
async function listClientBusinesses(db: Db, app: Node, grant: Grant, range: PageRange): Promise<ClientBusiness[]> {
  const own = sql<string>`${app.business_id}`
  const account = (name: string): RawBuilder<string> => sql.ref<string>(name)
  const clients = sql<Omit<ClientBusiness, 'name'>>`(
    SELECT gifts.business_id AS id, MIN(gifts.created_time) AS created_time FROM (
      SELECT connections.business_id AS business_id, connections.created_time AS created_time
      FROM connections
      WHERE connections.app_id = ${app.id} AND connections.ended_time IS NULL
        AND ${hasAccess(own, account('connections.account_id'))} AND ${isGranted(grant, account('connections.account_id'))}
      UNION ALL
      SELECT accounts.business_id, CASE access.created_time WHEN 0 THEN accounts.created_time ELSE access.created_time END
      FROM account_access access JOIN accounts ON accounts.id = access.account_id
      WHERE access.business_id = ${app.business_id} AND access.relation <> 'owner'
        AND accounts.business_id <> ${app.business_id} AND ${isGranted(grant, account('access.account_id'))}
      UNION ALL
      SELECT requests.end_business_id, requests.created_time
      FROM agreement_requests requests
      WHERE requests.partner_app_id = ${app.id} AND EXISTS (
        SELECT 1 FROM accounts JOIN account_access access ON access.account_id = accounts.id
        WHERE accounts.business_id = requests.end_business_id AND access.business_id = ${app.business_id}
          AND ${isGranted(grant, account('accounts.id'))})
    ) AS gifts GROUP BY gifts.business_id)`
  const page = await range.apply(db.query.selectFrom(clients.as('clients')).selectAll()).execute()
  const names = await findNames(db, page)
  return page.map(({ id, created_time }) => ({ id, created_time, name: names.get(id) ?? '' }))
}

/** Of the businesses of one page, so that the list itself need not read those of all. */
async function findNames(db: Db, page: readonly { readonly id: string }[]): Promise<Map<string, string>> {
  if (page.length === 0) return new Map()
  const rows = await db.query
    .selectFrom('businesses')
    .select(['id', 'name'])
    .where(
      'id',
      'in',
      page.map(({ id }) => id),
    )
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
