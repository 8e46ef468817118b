import type { Random } from '../base/random.ts'
import type { Transaction } from '../db/database.ts'
import { type AttemptResult, isDelivered } from './attempt.ts'
import { planRetry, type RetryRules } from './schedule.ts'

/** What is to become of a delivery after a try. */
export type Outcome =
  | { readonly kind: 'delivered'; readonly result: AttemptResult }
  | { readonly kind: 'retry'; readonly result: AttemptResult; readonly time: number }
  | { readonly kind: 'failed'; readonly result: AttemptResult; readonly because: 'gone' | 'expired' }

export function decideOutcome(result: AttemptResult, rules: RetryRules, random: Random): Outcome {
  if (isDelivered(result)) return { kind: 'delivered', result }
  const { delivery, time, duration, status, retryAfter } = result
  const step = planRetry(
    {
      failures: delivery.attempts - delivery.earlier_attempts + 1,
      raisedTime: delivery.started_time,
      now: time + duration,
      ...(status !== undefined && { status }),
      retryAfter,
    },
    rules,
    random,
  )
  return step.kind === 'retry'
    ? { kind: 'retry', result, time: step.time }
    : { kind: 'failed', result, because: step.because }
}

/**
 * Writes down what came of some tries, each with its place in the log. Another process may have tried the same while ours was
 * taken for dead: what it wrote first stands.
 */
export async function recordOutcomes(tx: Transaction, outcomes: readonly Outcome[], now: number): Promise<void> {
  if (outcomes.length === 0) return
  await tx.query
    .insertInto('delivery_attempts')
    .values(
      outcomes.map(({ result: { delivery, time, duration, status, problem, answer } }) => ({
        delivery_id: delivery.id,
        number: delivery.attempts + 1,
        time,
        duration,
        status: status ?? null,
        problem: problem ?? null,
        answer: answer === '' ? null : answer,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  for (const state of ['delivered', 'failed'] as const) {
    const ids = outcomes.filter(({ kind }) => kind === state).map(({ result }) => result.delivery.id)
    if (ids.length === 0) continue
    await tx.query
      .updateTable('deliveries')
      .set(({ eb }) => ({ state, attempts: eb('attempts', '+', 1), finished_time: now }))
      .where('id', 'in', ids)
      .where('state', '=', 'waiting')
      .execute()
  }
  for (const outcome of outcomes) {
    if (outcome.kind !== 'retry') continue
    const { id, attempts } = outcome.result.delivery
    await tx.query
      .updateTable('deliveries')
      .set({ attempts: attempts + 1, due_time: outcome.time })
      .where('id', '=', id)
      .where('attempts', '=', attempts)
      .where('state', '=', 'waiting')
      .execute()
  }
}
