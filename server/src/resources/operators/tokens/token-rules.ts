import type { Db } from '../../../db/database.ts'
import type { Scope } from '../../../graph/caller.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { idsUnknown, limitsNeedOperator, tokenWiderThanOperator } from '../errors.ts'
import { listSeenForOperators } from './token-store.ts'

export interface WantedToken {
  readonly app_id: string
  readonly scopes: readonly Scope[]
  readonly accounts: readonly string[] | undefined
  readonly businesses: readonly string[] | undefined
}

/** Checks that a new token names what the operator sees, and sees no more than the operator; returns the business of its app. */
export async function checkNewToken(db: Db, limits: OperatorLimits | undefined, wanted: WantedToken): Promise<string> {
  const { app_id, scopes, accounts = [], businesses = [] } = wanted
  if (wanted.businesses && !scopes.includes('operator')) throw badArgument(limitsNeedOperator('businesses'))
  const seen = await listSeenForOperators(db, limits, [app_id, ...accounts, ...businesses])
  const kinds = new Map(seen.map(({ id, kind }) => [id, kind]))
  const check = (argument: string, ids: readonly string[], kind: string, called: string) => {
    const unknown = ids.filter((id) => kinds.get(id) !== kind)
    if (unknown.length > 0) throw badArgument(idsUnknown(argument, { ids: unknown.slice(0, 5), kind: called }))
  }
  check('app_id', [app_id], 'application', 'an app')
  check('accounts', accounts, 'account', 'an account')
  check('businesses', businesses, 'business', 'a business')
  if (limits && isWide(wanted)) throw tokenWiderThanOperator()
  return seen.find(({ id }) => id === app_id)?.business_id ?? ''
}

/** Whether it would see every tenant, whatever its app. */
function isWide({ scopes, accounts, businesses }: WantedToken): boolean {
  return (scopes.includes('gateway') || scopes.includes('operator')) && !accounts && !businesses
}
