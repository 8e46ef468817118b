import { minute } from '../base/duration.ts'
import type { Outcome } from './record.ts'

/** What is known of a subscriber besides its deliveries. */
export interface LaneState {
  /** How many different deliveries have failed since the last one that was taken. */
  readonly failures: number
  /** Nothing is sent before. */
  readonly paused_until: number
  /** The latest of the next tries of those that failed in a row just now. */
  readonly next_try: number
}

/** After so many different deliveries in a row have failed, it is not them: the subscriber is down. */
export const failuresUntilDown = 3
/** A subscriber that is down is asked again at least so often, as long as there is something new for it. */
const longestPause = minute

export function isDown({ failures }: Pick<LaneState, 'failures'>): boolean {
  return failures >= failuresUntilDown
}

/**
 * What a try says about the subscriber. One delivery that fails waits for its next try by itself and lets the others pass.
 * When the subscriber is down, all of them wait until those that were tried are due again, so that nothing is wasted on it,
 * and what it gets when it is back comes in order. One that asks for time gets it.
 */
export function noteOutcome(state: LaneState, outcome: Outcome, now: number): LaneState {
  if (outcome.kind === 'delivered') return { failures: 0, paused_until: 0, next_try: 0 }
  // An answer about this one delivery: it says nothing about the next.
  if (outcome.kind === 'failed' && outcome.because === 'gone') return state
  const { delivery, retryAfter } = outcome.result
  const isFirstTry = delivery.attempts === delivery.earlier_attempts
  const failures = isFirstTry || isDown(state) ? state.failures + 1 : state.failures
  const own = outcome.kind === 'retry' ? outcome.time : now + longestPause
  const next_try = Math.max(state.next_try, own)
  const asked = retryAfter !== undefined && outcome.kind === 'retry' ? own : 0
  const down = isDown({ failures }) ? Math.min(next_try, now + longestPause) : 0
  return { failures, paused_until: Math.max(state.paused_until, asked, down), next_try }
}
