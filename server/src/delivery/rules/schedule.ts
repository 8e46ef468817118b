import type { Random } from '../../base/keys/random.ts'
import { day, second } from '../../base/time/duration.ts'

export interface RetryRules {
  /** Milliseconds before the second attempt, the third and so on; the last repeats. Never empty. */
  readonly delays: readonly number[]
  /** Milliseconds after the event when attempts end. */
  readonly giveUpAfter: number
}

export interface FailedAttempt {
  /** How many attempts have failed, this one included. */
  readonly failures: number
  /** When the event was raised, and when this attempt ended. */
  readonly raisedTime: number
  readonly now: number
  /** The status of the response; undefined when there was none. */
  readonly status?: number
  /** The `Retry-After` of the response. */
  readonly retryAfter?: string | undefined
}

export type NextStep =
  | { readonly kind: 'retry'; readonly time: number }
  | { readonly kind: 'end'; readonly because: 'gone' | 'expired' }

/** The longest `Retry-After` that is honoured. */
const maxRetryAfter = day
/** Random share added to a delay, so that deliveries that failed together are not retried together. */
const jitter = 0.2
/** The status by which a subscriber refuses one delivery for good. */
export const gone = 410

/** When a failed delivery is retried, or that it is not. */
export function planRetry(attempt: FailedAttempt, { delays, giveUpAfter }: RetryRules, random: Random): NextStep {
  const { failures, raisedTime, now, status, retryAfter } = attempt
  if (status === gone) return { kind: 'end', because: 'gone' }
  const delay = delays[Math.min(failures, delays.length) - 1] as number
  const asked = Math.min(readRetryAfter(retryAfter, now) ?? 0, maxRetryAfter)
  const wait = Math.max(delay, asked)
  const time = now + wait + random.integer(0, Math.floor(wait * jitter) + 1)
  const lastTime = raisedTime + giveUpAfter
  if (now >= lastTime || now + asked > lastTime) return { kind: 'end', because: 'expired' }
  // A delay of a day would otherwise give up a day too early.
  return { kind: 'retry', time: Math.min(time, lastTime) }
}

/** Parses `Retry-After` as milliseconds from now: seconds, or a date in any of the three forms of HTTP. */
export function readRetryAfter(text: string | undefined, now: number): number | undefined {
  const trimmed = text?.trim() ?? ''
  if (/^\d+$/.test(trimmed)) return Number(trimmed) * second
  const time = readHttpDate(trimmed)
  return time === undefined ? undefined : Math.max(0, time - now)
}

const httpDates: readonly RegExp[] = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
]

function readHttpDate(text: string): number | undefined {
  if (!httpDates.some((form) => form.test(text))) return undefined
  // The third form names no zone, and means GMT.
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(time) ? undefined : time
}
