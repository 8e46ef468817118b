import { beginUpper } from '../../ui/begin-upper.ts'

const memberWords: Readonly<Record<string, string>> = {
  id: 'ID',
  name: 'Name',
  display_phone_number: 'Phone number',
  verified_name: 'Display name',
  messaging_limit_tier: 'Messaging limit',
  is_official_business_account: 'Official business account',
  code_verification_status: 'Verification by code',
  unified_cert_status: 'Review of the display name',
  name_status: 'Status of the display name',
  account_mode: 'Mode',
  host_platform: 'Hosted on',
  country_dial_code: 'Dial code',
  timezone_id: 'Time zone (number)',
  message_send_ttl_seconds: 'Delivered within',
  parameter_format: 'Parameters',
  rejected_reason: 'Reason for the rejection',
  sha256: 'SHA-256',
  mime_type: 'Type of file',
  file_size: 'Size',
  join_approval_mode: 'Joining',
  total_participant_count: 'Members',
  auto_read: 'Reads messages by itself',
  read_receipts: 'Sends read receipts',
  reachable: 'Reachable',
  wa_id: 'Phone number',
  email: 'E-mail address',
  created_time: 'Created',
  updated_time: 'Last changed',
  last_updated_time: 'Last changed',
  previous_category: 'Category before',
}

/** The name of a member of an object, in words. */
export function nameMember(member: string): string {
  // The product has another name on the wire of each service.
  const plain = member.replace(/^[a-z]+_business_account_id$/, 'account_id')
  return memberWords[plain] ?? beginUpper(plain.replaceAll('_', ' ').replace(/ id$/, ' ID'))
}

const valueWords: Readonly<Record<string, string>> = {
  GREEN: 'High',
  YELLOW: 'Medium',
  RED: 'Low',
  UNKNOWN: 'Not rated yet',
  NA: 'Not rated yet',
  TIER_50: '50 users in 24 hours',
  TIER_250: '250 users in 24 hours',
  TIER_1K: '1,000 users in 24 hours',
  TIER_10K: '10,000 users in 24 hours',
  TIER_100K: '100,000 users in 24 hours',
  TIER_UNLIMITED: 'Unlimited',
  CLOUD_API: 'Cloud API',
  online: 'Online',
  offline: 'Offline',
  approval_required: 'After an approval',
  auto_approve: 'At once, by the invite link',
}

/** A word of an enumeration, such as `NAME_PENDING_REVIEW`, for people; other texts as they are. */
export function nameValue(value: string): string {
  const known = valueWords[value]
  if (known !== undefined) return known
  return /^[A-Z]{3,}(?:_[A-Z]+)*$/.test(value) ? beginUpper(value.toLowerCase().replaceAll('_', ' ')) : value
}

/** Members whose values are as people wrote them, although they may look like a word of an enumeration. */
const written = new Set([
  'name',
  'verified_name',
  'subject',
  'description',
  'about',
  'address',
  'country',
  'code',
  'username',
  'email',
])

export interface Fact {
  readonly name: string
  readonly value: string
  /** Whether the value is a time. */
  readonly isTime?: boolean
}

/** The members of an object as facts; what is empty, or one object more, is left out. */
export function listFacts(object: object, leftOut: readonly string[] = []): Fact[] {
  return Object.entries(object).flatMap(([member, value]): Fact[] => {
    if (leftOut.includes(member)) return []
    const text = writeValue(member, value)
    if (text === undefined) return []
    const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
    return [{ name: nameMember(member), value: text, ...(isTime && { isTime }) }]
  })
}

function writeValue(member: string, value: unknown): string | undefined {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'number') return writeNumber(member, value)
  if (typeof value === 'string') return value === '' ? undefined : written.has(member) ? value : nameValue(value)
  if (!Array.isArray(value) || value.length === 0) return undefined
  if (value.every((one) => typeof one === 'string')) return value.map(nameValue).join(', ')
  return value.map(writeObject).join('\n')
}

/** What an object of a list says, on one line: `hours – When we are open`. */
function writeObject(object: object): string {
  return Object.entries(object)
    .map(([member, value]) => writeValue(member, value))
    .filter((text) => text !== undefined)
    .join(' – ')
}

function writeNumber(member: string, value: number): string {
  if (member.endsWith('_seconds')) return writeDuration(value)
  if (member === 'file_size') return writeSize(value)
  return member.endsWith('_id') ? String(value) : value.toLocaleString('en')
}

const durations = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** `30 days`, `10 minutes`: in the largest unit that divides it. */
function writeDuration(seconds: number): string {
  const [unit, size] = durations.find(([, size]) => seconds >= size && seconds % size === 0) ?? ['second', 1]
  const count = seconds / size
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`
}

/** `12.3 kB` */
export function writeSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
