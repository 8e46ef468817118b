import type { Random } from '../base/random.ts'
import type { WaitingDelivery } from './due.ts'
import { planRetry, type RetryRules } from './schedule.ts'

/** What came of one post. */
export interface PostResult {
  readonly time: number
  readonly duration: number
  /** Of the answer; undefined when there was none. */
  readonly status: number | undefined
  /** Why there was no answer, or why it is not taken for a yes. */
  readonly problem: string | undefined
  /** The first of the answer, for the log. */
  readonly answer: string
  readonly retryAfter: string | undefined
  /** A fault of our own, which is no less a reason to try again later. */
  readonly fault: unknown
}

interface Tried {
  readonly delivery: WaitingDelivery
  readonly result: PostResult
}

/** What is to become of a delivery after a try. */
export type Outcome =
  | (Tried & { readonly kind: 'delivered' })
  | (Tried & { readonly kind: 'retry'; readonly time: number })
  | (Tried & { readonly kind: 'failed'; readonly because: 'gone' | 'expired' })

export function isTaken(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status <= 299
}

export function decideOutcome(
  delivery: WaitingDelivery,
  result: PostResult,
  rules: RetryRules,
  random: Random,
): Outcome {
  const { time, duration, status, retryAfter } = result
  if (isTaken(status)) return { kind: 'delivered', delivery, result }
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
    ? { kind: 'retry', delivery, result, time: step.time }
    : { kind: 'failed', delivery, result, because: step.because }
}
