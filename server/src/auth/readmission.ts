import { type RawBuilder, sql } from 'kysely'
import type { Clock } from '../base/time/clock.ts'
import type { Database, Db, Transaction, TransactionOptions } from '../db/database.ts'
import { defineStatement } from '../db/statement.ts'
import type { Caller } from '../graph/caller.ts'
import type { Node } from '../graph/nodes.ts'
import { hasAccess } from './access.ts'

/** Who was admitted, and to which node, if any. */
export interface Admitted {
  readonly caller: Caller
  readonly node?: Node | undefined
}

/** What is checked again: that the token and its permissions are unchanged, and that its business still sees the node. */
export interface AdmissionParameters {
  readonly now: number
  readonly token_id: string
  readonly token_scopes: readonly string[]
  readonly token_accounts: readonly string[] | null
  readonly token_businesses: readonly string[] | null
  readonly caller_business_id: string
  readonly node_id: string
  readonly node_account_id: string
}

/** By which rule of `access.ts` the caller sees the node; `token` when the token alone decides. */
const rules = ['token', 'account', 'business', 'share'] as const
type Rule = (typeof rules)[number]

/**
 * A statement for each rule. In one statement for all rules the parameters would decide what is read, and PostgreSQL would plan it
 * anew at every run, which costs more than running it.
 */
export type ByRule<T> = Readonly<Record<Rule, T>>

export function makeByRule<T>(make: (rule: Rule) => T): ByRule<T> {
  return Object.fromEntries(rules.map((rule) => [rule, make(rule)])) as ByRule<T>
}

export function ruleOf({ caller, node }: Admitted): Rule {
  if (!node) return 'token'
  if (node.account_id !== null) return 'account'
  if (node.business_id === caller.business_id) return 'token'
  return node.kind === 'business' ? 'business' : 'share'
}

/** Thrown inside a transaction to roll it back: the basis of the admission is gone or has changed. */
export class AdmissionChanged extends Error {
  constructor() {
    super('what the caller was admitted by has changed')
  }
}

/** Each retry means that somebody changed the token or the access again; more often than this it is our own fault. */
const maxTries = 5

/**
 * Runs the write of an admitted caller in a transaction that repeats the check before it ends, because reading the body, a handshake or
 * a lock may have taken long (`confirmAdmission`, or `appendActivity`, which does it in the same statement). If something has changed,
 * the transaction rolls back; then `readmit` throws the refusal, or the write runs once more.
 */
export async function transactAdmitted<A extends Admitted, T>(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  admitted: A,
  readmit: (before: A) => Promise<A>,
  work: (tx: Transaction, admitted: A) => Promise<T>,
  given: Pick<TransactionOptions, 'trace' | 'span' | 'holds'> = {},
): Promise<T> {
  // The write connections are shared fairly among apps.
  const options = { fairnessKey: admitted.caller.app_id, ...given }
  let current = admitted
  for (let tries = 1; ; tries++) {
    try {
      return await database.transaction((tx) => work(tx, current), options)
    } catch (error) {
      if (tries === maxTries || !(await isByChange(error))) throw error
      current = await readmit(current)
    }
  }

  /** A caller without access learns no other reason against the write. */
  async function isByChange(error: unknown): Promise<boolean> {
    if (error instanceof AdmissionChanged) return true
    // Not only a refusal: when the store of a sandbox is replaced, what the write builds on may be gone.
    return database.outageOf(error) === undefined && !(await isAdmitted(database.read, clock, current))
  }
}

/**
 * Checks once more that the caller is admitted, with one statement in the same transaction; fails it with `AdmissionChanged`. To be
 * called last: then only the commit itself comes after the check.
 */
export function confirmAdmission(tx: Transaction, clock: Clock, admitted: Admitted): void {
  tx.require(findAdmission[ruleOf(admitted)], parametersOf(clock, admitted), makeAdmissionChanged)
}

async function isAdmitted(db: Db, clock: Clock, admitted: Admitted): Promise<boolean> {
  return (await db.first(findAdmission[ruleOf(admitted)], parametersOf(clock, admitted))) !== undefined
}

export function makeAdmissionChanged(): AdmissionChanged {
  return new AdmissionChanged()
}

const findAdmission = makeByRule((rule) =>
  defineStatement<AdmissionParameters>()((db, parameters) =>
    db.selectFrom('tokens').select('tokens.id').where(isStillAdmitted(rule, parameters)),
  ),
)

export function parametersOf(clock: Clock, { caller, node }: Admitted): AdmissionParameters {
  return {
    now: clock.now(),
    token_id: caller.token_id,
    token_scopes: caller.granted.scopes,
    token_accounts: caller.granted.accounts,
    token_businesses: caller.granted.businesses,
    caller_business_id: caller.business_id,
    node_id: node?.id ?? '',
    node_account_id: node?.account_id ?? '',
  }
}

/** Whether both are admitted to the same node by the same rights. */
export function isSameAdmission(one: AdmissionParameters, other: AdmissionParameters): boolean {
  const write = (parameters: AdmissionParameters) => {
    const { token_id, caller_business_id, node_id, node_account_id } = parameters
    const { token_scopes, token_accounts, token_businesses } = parameters
    const rights = [token_scopes, token_accounts, token_businesses]
    return JSON.stringify([token_id, caller_business_id, node_id, node_account_id, rights])
  }
  return write(one) === write(other)
}

/**
 * Whether the row of `tokens` is the caller's, unchanged, and its business sees the node by the rules of `access.ts`. The node itself
 * is not read: its kind and owner never change, and the write may just have deleted it.
 */
export function isStillAdmitted(rule: Rule, parameters: AdmissionParameters): RawBuilder<boolean> {
  const { now, token_id, token_scopes, token_accounts, token_businesses } = parameters
  return sql<boolean>`tokens.id = ${token_id}
    AND tokens.revoked_time IS NULL
    AND (tokens.expires_time IS NULL OR tokens.expires_time > ${now})
    AND tokens.scopes = ${token_scopes}
    AND tokens.accounts IS NOT DISTINCT FROM ${token_accounts}
    AND tokens.businesses IS NOT DISTINCT FROM ${token_businesses}
    AND ${isStillVisible(rule, parameters)}`
}

function isStillVisible(rule: Rule, parameters: AdmissionParameters): RawBuilder<boolean> {
  const business_id = sql<string>`${parameters.caller_business_id}`
  const node_id = sql<string>`${parameters.node_id}`
  switch (rule) {
    case 'token':
      return sql`TRUE`
    case 'account':
      return hasAccess(business_id, sql<string>`${parameters.node_account_id}`)
    case 'business':
      // A session of the console acts for an app as a whole, whatever accounts it sees besides.
      return sql`EXISTS (
        SELECT 1 FROM accounts c JOIN account_access a ON a.account_id = c.id
        WHERE c.business_id = ${node_id} AND a.business_id = ${business_id}
          AND (tokens.accounts IS NULL OR tokens.session_name IS NOT NULL OR CAST(tokens.accounts AS TEXT) LIKE '%"' || c.id || '"%'))`
    case 'share':
      return sql`EXISTS (
        SELECT 1 FROM node_shares s WHERE s.node_id = ${node_id} AND s.business_id = ${business_id})`
  }
}
