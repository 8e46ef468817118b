import { isPossibleNumber } from '../../base/text/international-number.ts'
import { recipientNotPossible } from './errors.ts'

/** The digits of a recipient as people write numbers; undefined when no such number can exist. */
export function findRecipientDigits(to: string): string | undefined {
  const digits = to.replaceAll(/[\s().\-/]/g, '').replace(/^\+/, '')
  if (!/^\d{1,20}$/.test(digits)) return undefined
  return isPossibleNumber(digits) ? digits : undefined
}

/** The same, or the 400. */
export function readRecipient(to: string): string {
  const digits = findRecipientDigits(to)
  if (digits === undefined) throw recipientNotPossible()
  return digits
}
