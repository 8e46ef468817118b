import type { PhoneNumbersTable } from '../db/tables.ts'
import { drawNodeIds } from '../graph/nodes.ts'
import { toStoredCompliance } from '../resources/compliance/rules.ts'
import { groupDefaults } from '../resources/groups/rules.ts'
import { endNameReview, numberDefaults, readStates, splitStatus } from '../resources/phone-numbers/rules.ts'
import { describeRegistration } from '../resources/phone-numbers/states.ts'
import { emptyProfile, readProfileUpdate } from '../resources/profile/rules.ts'
import { bringRows, type WriteParts } from './rows.ts'
import type { WorldNumber } from './schema.ts'
import type { NumberThing, Things } from './things.ts'
import { pickGiven } from './write-tenants.ts'

/** Draws an Account-Number-ID for every new number that the file gives none: Phone-Number-ID → Account-Number-ID. */
export async function drawAccountNumberIds(
  { tx, random, knownNodes }: WriteParts,
  { numbers, nodes }: Things,
): Promise<Map<string, string>> {
  const without = numbers.filter(({ given }) => given.account_number_id === undefined && !knownNodes.has(given.id))
  const drawn = await drawNodeIds(tx, random, without.length, (id) => nodes.has(id))
  return new Map(without.map(({ given }, index) => [given.id, drawn[index] as string]))
}

export async function writeNumbers(
  parts: WriteParts,
  { numbers }: Things,
  drawnIds: ReadonlyMap<string, string>,
): Promise<void> {
  const { now } = parts
  await bringRows(
    parts,
    {
      table: 'phone_numbers',
      key: ['id'],
      keyOf: ({ given }) => [given.id],
      nodeOf: ({ given }) => given.id,
      create: (number) => createNumber(number, drawnIds, now),
      change: (number, stored) => changeNumber(number, stored, now),
    },
    numbers,
  )
  await bringRows(
    parts,
    {
      table: 'business_profiles',
      key: ['phone_number_id'],
      keyOf: ({ phone_number_id }) => [phone_number_id],
      nodeOf: ({ phone_number_id }) => phone_number_id,
      create: ({ phone_number_id, profile }) => ({ phone_number_id, ...emptyProfile, ...readProfileUpdate(profile) }),
      change: ({ profile }) => readProfileUpdate(profile),
    },
    numbers.flatMap(({ given: { id, profile } }) => (profile ? [{ phone_number_id: id, profile }] : [])),
  )
  await bringRows(
    parts,
    {
      table: 'compliance_info',
      key: ['phone_number_id'],
      keyOf: ({ phone_number_id }) => [phone_number_id],
      nodeOf: ({ phone_number_id }) => phone_number_id,
      create: ({ phone_number_id, compliance }) => ({ phone_number_id, ...toStoredCompliance(compliance) }),
      change: ({ compliance }) => toStoredCompliance(compliance),
    },
    numbers.flatMap(({ given: { id, compliance } }) => (compliance ? [{ phone_number_id: id, compliance }] : [])),
  )
}

function createNumber(
  { given, account, parsed }: NumberThing,
  drawnIds: ReadonlyMap<string, string>,
  now: number,
): PhoneNumbersTable {
  const account_number_id = given.account_number_id ?? drawnIds.get(given.id)
  if (account_number_id === undefined) throw new Error(`no Account-Number-ID was drawn for ${given.id}`)
  return {
    id: given.id,
    account_number_id,
    account_id: account.id,
    ...parsed,
    display_phone_number: given.display_phone_number,
    verified_name: account.name.trim(),
    ...numberDefaults,
    ...describeRegistration(given.registered ?? false, now),
    creation_time: now,
    ...givenColumns(given),
  }
}

/** `registered` stands for several states; they follow when it changes, and stay as they came to be when it does not. */
function changeNumber(
  { given, parsed }: NumberThing,
  stored: PhoneNumbersTable,
  now: number,
): Partial<PhoneNumbersTable> {
  const { registered } = given
  return {
    display_phone_number: given.display_phone_number,
    ...(parsed.phone_number !== stored.phone_number && parsed),
    ...(registered !== undefined && registered !== stored.registered && describeRegistration(registered, now, stored)),
    ...(given.name_status !== undefined && endNameReview(stored, given.name_status)),
    ...givenColumns(given),
  }
}

function givenColumns(given: WorldNumber): Partial<PhoneNumbersTable> {
  return {
    ...(given.status !== undefined && splitStatus(given.status)),
    ...readStates(given),
    ...pickGiven({
      // Lists and an account number each have a `status` of their own; where these differ, this tells the second.
      connection_status: given.connection_status,
      verified_name: given.verified_name,
      country_code: given.country_code,
      country_dial_code: given.country_dial_code,
      name_status: given.name_status,
      unified_cert_status: given.unified_cert_status,
      account_mode: given.account_mode,
      host_platform: given.host_platform,
      messaging_limit_tier: given.messaging_limit_tier,
      is_official_business_account: given.is_official_business_account,
      new_display_name: given.new_display_name,
      search_visibility: given.search_visibility,
      show_security_notifications: given.show_security_notifications,
      notify_user_change_number: given.notify_user_change_number,
      calling_enabled: given.calling_enabled,
      certificate: given.certificate,
    }),
  }
}

/** What hangs on a number, and what users allow it. */
export async function writeNumberParts(parts: WriteParts, { qrCodes, groups, permissions }: Things): Promise<void> {
  const { now } = parts
  await bringRows(
    parts,
    {
      table: 'qr_codes',
      key: ['code'],
      keyOf: ({ given }) => [given.code],
      nodeOf: ({ number }) => number.id,
      create: ({ given, number }) => ({ ...given, phone_number_id: number.id, creation_time: now }),
      change: ({ given: { prefilled_message } }) => ({ prefilled_message }),
    },
    qrCodes,
  )
  await bringRows(
    parts,
    {
      table: 'groups',
      key: ['id'],
      keyOf: ({ given }) => [given.id],
      nodeOf: ({ given }) => given.id,
      create: ({ given, number }) => ({
        ...groupDefaults,
        ...given,
        subject: given.subject.trim(),
        phone_number_id: number.id,
        created_time: now,
      }),
      change: ({ given: { subject, description, join_approval_mode } }) =>
        pickGiven({ subject: subject.trim(), description, join_approval_mode }),
    },
    groups,
  )
  await bringRows(
    parts,
    {
      table: 'call_permissions',
      key: ['phone_number_id', 'user_wa_id'],
      keyOf: ({ given }) => [given.phone_number_id, given.user_wa_id],
      nodeOf: ({ given }) => given.phone_number_id,
      create: ({ given: { phone_number_id, user_wa_id, status, expiration_time = null } }) => ({
        phone_number_id,
        user_wa_id,
        status,
        expiration_time,
      }),
      change: ({ given: { status, expiration_time } }) => pickGiven({ status, expiration_time }),
    },
    permissions,
  )
}
