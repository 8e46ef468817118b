import {
  formatInternationalNumber,
  type InternationalNumber,
  isRealInternationalNumber,
  readInternationalNumber,
} from '../../base/text/international-number.ts'
import type { PhoneNumbersTable } from '../../db/tables.ts'
import { badArgument } from '../../graph/define-error.ts'
import {
  codeFormWrong,
  displayNameTooShort,
  minNameLength,
  phoneNumberNotOfCountry,
  phoneNumberNotReal,
  smallBusinessNumber,
} from './errors.ts'
import { connectionStatuses, linkStatuses, type NumberCreation } from './schemas.ts'

/** A number in a list, which spells some states differently. */
export function toListedNumber(row: PhoneNumbersTable) {
  return {
    ...row,
    status: row.link_status,
    quality_rating: row.quality_rating === 'NA' ? 'UNKNOWN' : row.quality_rating,
    code_verification_status: row.code_verification_status === 'VERIFIED' ? 'VERIFIED' : 'NOT_VERIFIED',
    username: row.username ?? '',
  }
}

/** The same number as an account number, its other node. */
export function toAccountNumber(row: PhoneNumbersTable) {
  return { ...row, id: row.account_number_id, status: row.connection_status }
}

/** The defaults of a new number. */
export const numberDefaults = {
  quality_rating: 'NA',
  account_mode: 'LIVE',
  messaging_limit_tier: 'TIER_250',
  is_official_business_account: false,
  username: null,
  certificate: null,
  new_display_name: null,
  search_visibility: 'VISIBLE',
  show_security_notifications: false,
  notify_user_change_number: false,
  calling_enabled: true,
} satisfies Partial<PhoneNumbersTable>

/** `status` is a link status in lists and a connection status elsewhere: the value is returned as the one that knows it, or as both. */
export function splitStatus(status: string): { link_status?: string; connection_status?: string } {
  return {
    ...(linkStatuses.some((known) => known === status) && { link_status: status }),
    ...(connectionStatuses.some((known) => known === status) && { connection_status: status }),
  }
}

/** A number's states as stored, from any spelling that a client may have read. */
export function readStates(given: {
  quality_rating?: string
  code_verification_status?: string
  username?: string
}): Partial<PhoneNumbersTable> {
  const { quality_rating, code_verification_status, username } = given
  return {
    ...(quality_rating !== undefined && { quality_rating: quality_rating === 'UNKNOWN' ? 'NA' : quality_rating }),
    ...(code_verification_status !== undefined && {
      code_verification_status: code_verification_status === 'NOT_VERIFIED' ? 'UNVERIFIED' : code_verification_status,
    }),
    ...(username !== undefined && { username: username === '' ? null : username }),
  }
}

/** Ends a review: the new name becomes the number's name, or is discarded. */
export function endNameReview(stored: PhoneNumbersTable, name_status: string): Partial<PhoneNumbersTable> {
  if (stored.new_display_name === null || name_status === 'PENDING_REVIEW') return {}
  const accepted = name_status === 'APPROVED' || name_status === 'AVAILABLE_WITHOUT_REVIEW'
  return { new_display_name: null, ...(accepted && { verified_name: stored.new_display_name }) }
}

/** Area code 555 of North America is unassigned: numbers for tests and fiction, which no numbering plan accepts. */
const fictionalNumber = /^1555\d{7}$/

/** Parses the number to create: international, or national if `cc` gives the country. */
export function readNewNumber({
  cc,
  phone_number,
}: Pick<NumberCreation, 'cc' | 'phone_number'>): InternationalNumber & { display_phone_number: string } {
  const international = phone_number.startsWith('+') ? phone_number : `+${phone_number}`
  for (const text of cc === undefined ? [international] : [`+${cc} ${phone_number}`, international]) {
    const number = readInternationalNumber(text)
    if (!number || (cc !== undefined && number.country_dial_code !== cc)) continue
    if (!isRealInternationalNumber(text) && !fictionalNumber.test(number.phone_number)) continue
    return { ...number, display_phone_number: formatInternationalNumber(number.phone_number) }
  }
  throw cc === undefined ? phoneNumberNotReal() : phoneNumberNotOfCountry({ cc })
}

/** Surrounding spaces of a name do not count. */
export function readName(member: string, name: string): string {
  const trimmed = name.trim()
  if ([...trimmed].length >= minNameLength) return trimmed
  throw badArgument(displayNameTooShort(member))
}

/** A malformed code does not count as an attempt. */
export function checkCodeForm(code: string, digits: number): void {
  if (code.length !== digits || !/^\d+$/.test(code)) throw codeFormWrong({ digits })
}

export function checkDeregistration(account: { small_business: boolean }): void {
  if (account.small_business) throw smallBusinessNumber()
}
