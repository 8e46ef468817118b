import { type ExpressionBuilder, sql } from 'kysely'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { AgreementRequestsTable, Tables } from '../../db/tables.ts'

const onboardingType = 'MM_LITE_ONBOARDING'

/** Who wants to onboard whom, and which accounts the token may speak for (undefined: all that the partner was given). */
export interface Parties {
  readonly partner_business_id: string
  readonly end_business_id: string
  readonly accounts: ReadonlySet<string> | undefined
}

const lockBusiness = defineStatement<Pick<Parties, 'end_business_id'>>()((db, { end_business_id }) =>
  db.selectFrom('businesses').select('id').where('id', '=', end_business_id).forNoKeyUpdate(),
)

/**
 * Lets nobody else onboard that business before this transaction ends, so that of many requests at the same moment one
 * creates and the others find what it created.
 */
export function lockEndBusiness(tx: Transaction, { end_business_id }: Parties): void {
  tx.lock(lockBusiness, { end_business_id })
}

export async function findPendingRequest(db: Db, { partner_business_id, end_business_id }: Parties) {
  return db.query
    .selectFrom('agreement_requests')
    .select('id')
    .where('partner_business_id', '=', partner_business_id)
    .where('end_business_id', '=', end_business_id)
    .where('type', '=', onboardingType)
    .where('status', '=', 'PENDING')
    .executeTakeFirst()
}

/** Accounts of the end business that passed review, by what lets the partner at them. */
function selectEligible(db: Db, parties: Parties, relations: readonly ('shared' | 'on_behalf_of')[]) {
  const { partner_business_id, end_business_id, accounts } = parties
  const query = db.query
    .selectFrom('accounts')
    .innerJoin('account_access as access', 'access.account_id', 'accounts.id')
    .where('accounts.business_id', '=', end_business_id)
    .where('accounts.account_review_status', '=', 'APPROVED')
    .where('access.business_id', '=', partner_business_id)
    .where('access.relation', 'in', relations)
  return accounts ? query.where('accounts.id', 'in', [...accounts]) : query
}

export async function hasEligibleAccount(db: Db, parties: Parties): Promise<boolean> {
  const found = await selectEligible(db, parties, ['shared', 'on_behalf_of'])
    .select('accounts.id')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

export type NewRequest = Pick<AgreementRequestsTable, 'id' | 'partner_app_id' | 'solution_id' | 'created_time'>

/** Stores a request under the node that was made for it. */
export async function insertRequest(tx: Transaction, parties: Parties, request: NewRequest): Promise<void> {
  const { partner_business_id, end_business_id } = parties
  await tx.query
    .insertInto('agreement_requests')
    .values({ ...request, type: onboardingType, status: 'PENDING', partner_business_id, end_business_id })
    .execute()
}

/** Notes on every account that the partner manages on the owner's behalf that it is meant to move. */
export async function setMobilityIntents(tx: Transaction, parties: Parties, request: NewRequest): Promise<void> {
  await tx.query
    .insertInto('mobility_intents')
    .columns(['account_id', 'partner_business_id', 'request_id', 'solution_id', 'created_time'])
    .expression(
      selectEligible(tx, parties, ['on_behalf_of']).select([
        'accounts.id',
        'access.business_id',
        sql<string>`CAST(${request.id} AS TEXT)`.as('request_id'),
        sql<string | null>`CAST(${request.solution_id} AS TEXT)`.as('solution_id'),
        sql<number>`CAST(${request.created_time} AS BIGINT)`.as('created_time'),
      ]),
    )
    .onConflict((conflict) => conflict.columns(['account_id', 'partner_business_id']).doUpdateSet(takeExcluded))
    .execute()
}

function takeExcluded({ ref }: ExpressionBuilder<Tables & { excluded: Tables['mobility_intents'] }, 'excluded'>) {
  return {
    request_id: ref('excluded.request_id'),
    solution_id: ref('excluded.solution_id'),
    created_time: ref('excluded.created_time'),
  }
}
