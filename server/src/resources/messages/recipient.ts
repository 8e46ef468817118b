import { readInternationalNumber } from '../../base/international-number.ts'
import { recipientNotPossible } from './errors.ts'

/** Longer than any number, with all that people put between its digits. */
export const maxRecipientLength = 100

/** The digits of a recipient as people write numbers; undefined when no such number can exist. */
export function findRecipientDigits(to: string): string | undefined {
  const digits = to.replaceAll(/[\s().\-/]/g, '').replace(/^\+/, '')
  if (!/^\d{1,20}$/.test(digits)) return undefined
  return isPossible(digits) ? digits : undefined
}

/** How many numbers are known to be possible or not: finding it out takes as long as storing a message. */
const maxKnown = 5000
const isPossible = makePossibleCheck()

function makePossibleCheck(): (digits: string) => boolean {
  const known = new Map<string, boolean>()
  return (digits) => {
    let possible = known.get(digits)
    if (possible === undefined) {
      possible = readInternationalNumber(`+${digits}`) !== undefined
      if (known.size >= maxKnown) known.clear()
      known.set(digits, possible)
    }
    return possible
  }
}

/** The same, or the 400. */
export function readRecipient(to: string): string {
  const digits = findRecipientDigits(to)
  if (digits === undefined) throw recipientNotPossible()
  return digits
}
