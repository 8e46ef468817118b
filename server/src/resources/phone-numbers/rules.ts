import type { PhoneNumbersTable } from '../../db/tables.ts'

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
