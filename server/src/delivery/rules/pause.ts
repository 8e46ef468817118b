import { minute } from '../../base/time/duration.ts'
import type { Outcome } from './outcome.ts'

/** The state of a subscriber, besides its deliveries. */
export interface LaneState {
  /** How many different deliveries have failed since the last success; once the subscriber is down, plus the failed probes. */
  readonly failures: number
  /** Nothing is sent before this time. */
  readonly paused_until: number
}

/** After so many different deliveries failed in a row, the deliveries are not at fault: the subscriber is down. */
export const failuresUntilDown = 3
/** The longest pause of a subscriber that is down: at first, and after so many failed probes. */
const longestPauses = { first: minute, probes: 10, later: 5 * minute } as const

export function isDown({ failures }: Pick<LaneState, 'failures'>): boolean {
  return failures >= failuresUntilDown
}

/**
 * Judges a subscriber by a post. A delivery that fails waits for its retry and delays only its own conversation. When the
 * subscriber is down, sending pauses, and then probes with one post at a time until one succeeds. `Retry-After` is honoured.
 */
export function noteOutcome(
  state: LaneState,
  outcome: Outcome,
  { now, wasProbe, delays }: { now: number; wasProbe: boolean; delays: readonly number[] },
): LaneState {
  if (outcome.kind === 'delivered') return { failures: 0, paused_until: 0 }
  // A response about this one delivery: it says nothing about the next.
  if (outcome.kind === 'failed' && outcome.because === 'gone') return state
  const { delivery, result } = outcome
  const isFirstTry = delivery.attempts === delivery.earlier_attempts
  const failures = countFailure(state, wasProbe, isFirstTry)
  const asked = result.retryAfter !== undefined && outcome.kind === 'retry' ? outcome.time : 0
  const down = isDown({ failures }) ? now + pauseOf(failures - failuresUntilDown, delays) : 0
  return { failures, paused_until: Math.max(state.paused_until, asked, down) }
}

/**
 * Posts that were already under way when the subscriber went down do not count as probes. A retry counts where nothing has failed since
 * the last success, resume or replay: otherwise a subscriber whose waiting deliveries were all tried before would look healthy.
 */
function countFailure({ failures }: LaneState, wasProbe: boolean, isFirstTry: boolean): number {
  if (wasProbe) return failures + 1
  return (isFirstTry || failures === 0) && failures < failuresUntilDown ? failures + 1 : failures
}

function pauseOf(probes: number, delays: readonly number[]): number {
  const longest = probes < longestPauses.probes ? longestPauses.first : longestPauses.later
  return Math.min(longest, delays[Math.min(probes, delays.length - 1)] as number)
}
