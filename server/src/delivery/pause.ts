import { minute } from '../base/duration.ts'
import type { Outcome } from './outcome.ts'

/** What is known of a subscriber besides its deliveries. */
export interface LaneState {
  /** How many different deliveries have failed since the last one that was taken; once it is down, how many probes besides. */
  readonly failures: number
  /** Nothing is sent before. */
  readonly paused_until: number
}

/** After so many different deliveries in a row have failed, it is not them: the subscriber is down. */
export const failuresUntilDown = 3
/** How long a subscriber that is down is left alone at the most: at first, and after so many probes in vain. */
const longestPauses = { first: minute, probes: 10, later: 5 * minute } as const

export function isDown({ failures }: Pick<LaneState, 'failures'>): boolean {
  return failures >= failuresUntilDown
}

/**
 * What a post says about the subscriber. A delivery that fails waits for its retry and holds up its conversation alone. When the
 * subscriber is down, nothing is sent for a while, and then one post at a time, until one is taken. One that asks for time gets it.
 */
export function noteOutcome(
  state: LaneState,
  outcome: Outcome,
  { now, wasProbe, delays }: { now: number; wasProbe: boolean; delays: readonly number[] },
): LaneState {
  if (outcome.kind === 'delivered') return { failures: 0, paused_until: 0 }
  // An answer about this one delivery: it says nothing about the next.
  if (outcome.kind === 'failed' && outcome.because === 'gone') return state
  const { delivery, result } = outcome
  const isFirstTry = delivery.attempts === delivery.earlier_attempts
  const failures = countFailure(state, wasProbe, isFirstTry)
  const asked = result.retryAfter !== undefined && outcome.kind === 'retry' ? outcome.time : 0
  const down = isDown({ failures }) ? now + pauseOf(failures - failuresUntilDown, delays) : 0
  return { failures, paused_until: Math.max(state.paused_until, asked, down) }
}

/** Posts that were under way together when the subscriber went down are no probes. */
function countFailure({ failures }: LaneState, wasProbe: boolean, isFirstTry: boolean): number {
  if (wasProbe) return failures + 1
  return isFirstTry && failures < failuresUntilDown ? failures + 1 : failures
}

function pauseOf(probes: number, delays: readonly number[]): number {
  const longest = probes < longestPauses.probes ? longestPauses.first : longestPauses.later
  return Math.min(longest, delays[Math.min(probes, delays.length - 1)] as number)
}
