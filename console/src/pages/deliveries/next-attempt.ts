import type { Delivery, Lane } from '../../data/types.ts'

/**
 * When a webhook is attempted next; undefined where no time is known: its own is past, and it waits for its turn, or an operator paused
 * the subscriber. While a subscriber is down, the webhook's own time is not when it is sent.
 */
export function findNextAttempt(
  { next_time }: Pick<Delivery, 'next_time'>,
  lane: Pick<Lane, 'paused_until' | 'paused_by_operator'> | undefined,
  now: number,
): string | undefined {
  if (next_time === null || lane?.paused_by_operator) return undefined
  const paused = lane?.paused_until ?? next_time
  const later = Date.parse(paused) > Date.parse(next_time) ? paused : next_time
  return Date.parse(later) > now ? later : undefined
}
