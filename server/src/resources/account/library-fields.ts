import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import type { AccountsTable } from '../../db/tables.ts'
import { describeHealth, healthSchema } from '../../graph/health.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { accountSchema } from './schemas.ts'

const neverKnown = 'Taken as a field, and left out of the response: nothing here knows it.'

/** Account fields in the types of client libraries, besides those of the specification, and with the values of the public document. */
const members = {
  account_review_status: Type.Optional(
    Type.Enum(['PENDING', 'APPROVED', 'REJECTED', 'RESTRICTED'], { description: 'RESTRICTED: a limit was reached.' }),
  ),
  currency: Type.Optional(
    Type.Literal('XXX', { description: 'The code of ISO 4217 for no currency: nothing is billed here.' }),
  ),
  owner_business_info: Type.Optional(Type.Object({ id: Type.String(), name: Type.String() })),
  status: Type.Optional(Type.Literal('ACTIVE')),
  is_enabled_for_insights: Type.Optional(Type.Boolean({ description: 'Always false: there are no insights.' })),
  health_status: Type.Optional(healthSchema),
  marketing_messages_lite_api_status: Type.Optional(
    Type.Literal('INELIGIBLE', { description: 'There is no such API here.' }),
  ),
  on_behalf_of_business_info: Type.Optional(Type.Object({}, { description: neverKnown })),
  primary_funding_id: Type.Optional(Type.String({ description: neverKnown })),
  purchase_order_number: Type.Optional(Type.String({ description: neverKnown })),
}

/** What an account shows without `fields`. */
export const defaultFields = ['id', 'name']

/** An account in responses. */
export function shownAccountSchema({ habits }: Vocabulary) {
  return Type.Object({ ...accountSchema.properties, ...(habits.library_fields && members) })
}

const eligibilities: Readonly<Record<string, 'AVAILABLE' | 'LIMITED'>> = { APPROVED: 'AVAILABLE', PENDING: 'LIMITED' }

/** An account under the names of client libraries; another table is read only on demand. */
export async function findForLibraries(db: Db, fields: readonly string[], account: AccountsTable): Promise<object> {
  const owner = fields.includes('owner_business_info') ? await findBusiness(db, account.business_id) : undefined
  return describeForLibraries(account, owner)
}

/** An account under the names of client libraries. */
export function describeForLibraries(
  account: AccountsTable,
  owner: { readonly id: string; readonly name: string } | undefined,
): object {
  const { id, account_review_status } = account
  return {
    ...account,
    account_review_status: account_review_status === 'LIMIT_REACHED' ? 'RESTRICTED' : account_review_status,
    currency: 'XXX',
    status: 'ACTIVE',
    is_enabled_for_insights: false,
    marketing_messages_lite_api_status: 'INELIGIBLE',
    health_status: describeHealth('WABA', id, eligibilities[account_review_status ?? ''] ?? 'BLOCKED'),
    ...(owner && { owner_business_info: owner }),
  }
}

async function findBusiness({ query }: Db, id: string) {
  return query.selectFrom('businesses').select(['id', 'name']).where('id', '=', id).executeTakeFirst()
}
