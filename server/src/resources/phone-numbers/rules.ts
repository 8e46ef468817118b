import {
  formatInternationalNumber,
  type InternationalNumber,
  isRealInternationalNumber,
  readInternationalNumber,
} from '../../base/international-number.ts'
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

/** A number as a list shows it, which spells some states in its own way. */
export function toListedNumber(row: PhoneNumbersTable) {
  return {
    ...row,
    status: row.link_status,
    quality_rating: row.quality_rating === 'NA' ? 'UNKNOWN' : row.quality_rating,
    code_verification_status: row.code_verification_status === 'VERIFIED' ? 'VERIFIED' : 'NOT_VERIFIED',
    username: row.username ?? '',
  }
}

/** The same number as its other node, the account number, shows it. */
export function toAccountNumber(row: PhoneNumbersTable) {
  return { ...row, id: row.account_number_id, status: row.connection_status }
}

/** What is true of a new number as long as nobody says otherwise. */
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

/** `status` is a link status in lists and a connection status elsewhere: the one, the other, or both that know the value. */
export function splitStatus(status: string): { link_status?: string; connection_status?: string } {
  return {
    ...(linkStatuses.some((known) => known === status) && { link_status: status }),
    ...(connectionStatuses.some((known) => known === status) && { connection_status: status }),
  }
}

/** A number's states in whichever spelling a client read them, as they are stored. */
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

/** A review that is over: the new name is the number's name, or is forgotten. */
export function endNameReview(stored: PhoneNumbersTable, name_status: string): Partial<PhoneNumbersTable> {
  if (stored.new_display_name === null || name_status === 'PENDING_REVIEW') return {}
  const accepted = name_status === 'APPROVED' || name_status === 'AVAILABLE_WITHOUT_REVIEW'
  return { new_display_name: null, ...(accepted && { verified_name: stored.new_display_name }) }
}

/** Area code 555 of North America belongs to nobody: numbers for tests and fiction, which no plan calls real. */
const fictionalNumber = /^1555\d{7}$/

/** Reads the number that is to be created: international, or national where `cc` says of which country. */
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

/** A name counts without the blanks around it. */
export function readName(member: string, name: string): string {
  const trimmed = name.trim()
  if ([...trimmed].length >= minNameLength) return trimmed
  throw badArgument(displayNameTooShort(member))
}

/** A code of the wrong form is no try. */
export function checkCodeForm(code: string, digits: number): void {
  if (code.length !== digits || !/^\d+$/.test(code)) throw codeFormWrong({ digits })
}

export function checkDeregistration(account: { small_business: boolean }): void {
  if (account.small_business) throw smallBusinessNumber()
}
