import { sql } from 'kysely'
import type { Db, Transaction } from '../db/database.ts'
import { defineSql, defineStatement } from '../db/statement.ts'
import { isAmongWaiting } from '../db/waiting.ts'

declare module '../db/tables.ts' {
  interface Tables {
    fault_rules: FaultRulesTable
  }
}

export interface FaultRulesTable {
  position: number
  rule: FaultRule
  hits: number
}

/** What a rule is about; what it leaves out may be anything. */
export interface FaultMatch {
  readonly door?: string
  readonly operation?: string
  readonly phone_number_id?: string
  readonly app_id?: string
  /** The beginning of the address that events are posted to. */
  readonly callback?: string
}

/** What happens; exactly one of these, `code` and `subcode` with `status`. */
export interface FaultEffect {
  readonly status?: number
  readonly code?: number
  readonly subcode?: number
  readonly delay?: string
  readonly drop?: boolean
  readonly duplicate?: boolean
  readonly reorder?: number
  readonly hold?: boolean
}

export interface FaultRule {
  readonly match: FaultMatch
  readonly rate: number
  readonly times?: number
  readonly effect: FaultEffect
}

/** Whether it concerns posts to callbacks, and not requests. */
export function isForCallbacks({ match, effect }: FaultRule): boolean {
  const { duplicate, reorder, hold } = effect
  return match.callback !== undefined || duplicate !== undefined || reorder !== undefined || hold !== undefined
}

const findRules = defineStatement<object>()((db) => db.selectFrom('fault_rules').selectAll().orderBy('position'))

export async function listFaultRules(db: Db): Promise<FaultRulesTable[]> {
  return db.list(findRules, {})
}

export async function replaceFaultRules({ query }: Transaction, rules: readonly FaultRule[]): Promise<void> {
  await query.deleteFrom('fault_rules').execute()
  const rows = rules.map((rule, position) => ({ position, rule, hits: 0 }))
  if (rows.length > 0) await query.insertInto('fault_rules').values(rows).execute()
}

/** Counts a hit, unless the rule was hit as often as it may be. */
export const countFaultHit = defineSql<{ position: number; most: number }>()(
  ({ position, most }) => sql<{ hits: number }>`
    UPDATE fault_rules SET hits = hits + 1 WHERE position = ${position} AND hits < ${most} RETURNING hits`,
)

/** When a delivery is due that a rule holds: never, until the rules are replaced. */
export const heldUntil = 8_640_000_000_000_000

/** Makes due what rules held. */
export async function releaseHeld({ query }: Transaction, now: number): Promise<void> {
  const held = sql`SELECT lane_id FROM deliveries WHERE ${isAmongWaiting()} AND due_time = ${heldUntil}`
  await sql`UPDATE lanes SET next_due = ${now} WHERE id IN (${held}) AND (next_due IS NULL OR next_due > ${now})`.execute(
    query,
  )
  await sql`UPDATE deliveries SET due_time = ${now} WHERE ${isAmongWaiting()} AND due_time = ${heldUntil}`.execute(
    query,
  )
}
