import type { PhoneNumbersTable } from '../../db/tables.ts'
import { connectionStatuses, linkStatuses } from './schemas.ts'

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
} satisfies Partial<PhoneNumbersTable>

type Registration = Pick<
  PhoneNumbersTable,
  | 'registered'
  | 'link_status'
  | 'connection_status'
  | 'code_verification_status'
  | 'name_status'
  | 'unified_cert_status'
  | 'host_platform'
>

/** The states that go with being registered on the platform. */
export function describeRegistration(registered: boolean): Registration {
  return registered
    ? {
        registered,
        link_status: 'CONNECTED',
        connection_status: 'CONNECTED',
        code_verification_status: 'VERIFIED',
        name_status: 'APPROVED',
        unified_cert_status: 'APPROVED',
        host_platform: 'CLOUD_API',
      }
    : {
        registered,
        link_status: 'PENDING',
        connection_status: 'PENDING',
        code_verification_status: 'UNVERIFIED',
        name_status: 'PENDING_REVIEW',
        unified_cert_status: 'NAME_PENDING_REVIEW',
        host_platform: 'NOT_APPLICABLE',
      }
}

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
