import type { Random } from '../../base/keys/random.ts'
import { planRetry, type RetryRules } from './schedule.ts'
import type { WaitingDelivery } from './waiting-delivery.ts'

/** A post as it left, without its body, which can be composed again. */
export interface SentPost {
  readonly url: string
  /** JSON: its headers. */
  readonly headers: string
  /** The deliveries that it carried in their order, by their ids with commas, when there were several. */
  readonly deliveries: string | null
  /** JSON: the headers of the response; null when none came. */
  readonly responseHeaders: string | null
}

/** The result of one post. */
export interface PostResult {
  readonly time: number
  readonly duration: number
  /** The status of the response; undefined when there was none. */
  readonly status: number | undefined
  /** Why there was no response, or why it does not count as success. */
  readonly problem: string | undefined
  /** Whether its time was over before a response began. */
  readonly isSilent: boolean
  /** The first part of the response, for the log. */
  readonly response: string
  /** What left, and the headers of what came back, for the log; undefined when nothing left. */
  readonly sent: SentPost | undefined
  readonly retryAfter: string | undefined
  /** A fault of our own, which is retried like any other. */
  readonly fault: unknown
}

interface Tried {
  readonly delivery: WaitingDelivery
  readonly result: PostResult
}

/** What happens to a delivery after an attempt. */
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
