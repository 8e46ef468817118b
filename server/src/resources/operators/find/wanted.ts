import { listWords } from '../../../base/text/words.ts'

/** What somebody searches for, as everything that it may be. */
export interface Wanted {
  /** As an id of anything; undefined: nothing has such an id. */
  readonly id: string | undefined
  /** As the number of a user or of a business, digits only. */
  readonly digits: string | undefined
  /** As the number of a delivery. */
  readonly delivery: number | undefined
  /** At least one. */
  readonly words: readonly string[]
}

/** What people write between the digits of a phone number. */
const phoneNumber = /^\+?[\d\s().\-/\u2010-\u2015]+$/

/** Undefined when there is neither a letter nor a digit. */
export function readWanted(q: string): Wanted | undefined {
  const text = q.trim()
  const words = listWords(text)
  if (words.length === 0) return undefined
  return {
    id: /[\p{Cc}\p{Cs}]/u.test(text) ? undefined : text,
    digits: phoneNumber.test(text) ? text.replaceAll(/\D/g, '').replace(/^00/, '') : undefined,
    delivery: /^\d{1,15}$/.test(text) ? Number(text) : undefined,
    words,
  }
}
