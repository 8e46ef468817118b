import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Random } from '../../base/keys/random.ts'
import { isLeaseOver } from '../../base/time/lease.ts'
import type { VerificationCodesTable } from '../../db/tables.ts'

/** The service's secret that keys the hashes of codes. */
export const codeSecretName = 'verification_codes'

export function drawCode(random: Random, digits: number): string {
  return String(random.integer(0, 10 ** digits)).padStart(digits, '0')
}

/** Keyed with a secret and bound to the number, so that a precomputed list of all hashes is useless. */
export function hashCode(secret: string, phone_number_id: string, code: string): string {
  return createHmac('sha256', secret).update(`${phone_number_id}:${code}`).digest('hex')
}

/** The failed attempts at a number's codes. They outlive a code, so that a new code gives no new attempts. */
export type WrongTries = Pick<VerificationCodesTable, 'wrong_tries' | 'first_wrong_time' | 'blocked_until'>

export const noWrongTries: WrongTries = { wrong_tries: 0, first_wrong_time: 0, blocked_until: 0 }

export interface WrongCodeLimit {
  readonly count: number
  readonly milliseconds: number
}

export type Judgement =
  | { readonly outcome: 'right' }
  | { readonly outcome: 'missing' | 'expired' }
  | { readonly outcome: 'blocked'; readonly milliseconds: number }
  | { readonly outcome: 'wrong'; readonly tries: WrongTries; readonly triesLeft: number | undefined }

/**
 * Checks a submitted code. While a number is blocked not even the right code is accepted. Only wrong codes while one is valid are
 * counted, because otherwise there is nothing to guess. Without a limit nothing is counted.
 */
export function judgeCode(
  stored: VerificationCodesTable | undefined,
  hash: string,
  now: number,
  limit: WrongCodeLimit | undefined,
): Judgement {
  if (!stored) return { outcome: 'missing' }
  if (limit && !isLeaseOver(stored.blocked_until, now, limit.milliseconds)) {
    return { outcome: 'blocked', milliseconds: stored.blocked_until - now }
  }
  if (stored.expires_time <= now) return { outcome: 'expired' }
  if (timingSafeEqual(Buffer.from(hash), Buffer.from(stored.code_hash))) return { outcome: 'right' }
  if (!limit) return { outcome: 'wrong', tries: noWrongTries, triesLeft: undefined }

  const isWithinPeriod = stored.wrong_tries > 0 && now - stored.first_wrong_time < limit.milliseconds
  const wrong_tries = isWithinPeriod ? stored.wrong_tries + 1 : 1
  const first_wrong_time = isWithinPeriod ? stored.first_wrong_time : now
  const triesLeft = Math.max(0, limit.count - wrong_tries)
  const tries =
    triesLeft > 0
      ? { wrong_tries, first_wrong_time, blocked_until: 0 }
      : { ...noWrongTries, blocked_until: now + limit.milliseconds }
  return { outcome: 'wrong', tries, triesLeft }
}
