import { type ExpressionBuilder, sql } from 'kysely'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { AccountAccess, AgreementRequestsTable, Tables } from '../../db/tables.ts'

const onboardingType = 'MM_LITE_ONBOARDING'

/** Who onboards whom, and the accounts of the token (undefined: all that the partner was given). */
export interface Parties {
  readonly partner_business_id: string
  readonly end_business_id: string
  readonly accounts: ReadonlySet<string> | undefined
}

const lockBusiness = defineStatement<Pick<Parties, 'end_business_id'>>()((db, { end_business_id }) =>
  db.selectFrom('businesses').select('id').where('id', '=', end_business_id).forNoKeyUpdate(),
)

/**
 * Locks the onboarding of that business until this transaction ends, so that of many concurrent requests one creates and the others
 * find what it created.
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

/** Accounts of the end business that passed review, by the basis of the partner's access. */
function selectEligible(db: Db, parties: Parties, relations: readonly AccountAccess['relation'][]) {
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
  const found = await selectEligible(db, parties, ['shared', 'connected', 'on_behalf_of'])
    .select('accounts.id')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

export type NewRequest = Pick<AgreementRequestsTable, 'id' | 'partner_app_id' | 'solution_id' | 'created_time'>

/** Stores a request under its new node. */
export async function insertRequest(tx: Transaction, parties: Parties, request: NewRequest): Promise<void> {
  const { partner_business_id, end_business_id } = parties
  await tx.query
    .insertInto('agreement_requests')
    .values({ ...request, type: onboardingType, status: 'PENDING', partner_business_id, end_business_id })
    .execute()
}

/** Marks every account that the partner manages on the owner's behalf as to be moved. */
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
