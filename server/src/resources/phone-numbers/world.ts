import { type Static, Type } from 'typebox'
import { type InternationalNumber, readInternationalNumber } from '../../base/text/international-number.ts'
import type { PhoneNumbersTable } from '../../db/tables.ts'
import { pickGiven, toEntry } from '../../world-part/entries.ts'
import { createNodes } from '../../world-part/nodes.ts'
import { defineWorldPart, exportRows, type StoreCheck } from '../../world-part/part.ts'
import { Repeats } from '../../world-part/problems.ts'
import { readRows, upsertNodes, vacate } from '../../world-part/rows.ts'
import { countrySchema, idSchema, nameSchema } from '../../world-part/schemas.ts'
import { accountEntries } from '../account/world.ts'
import { endNameReview, numberDefaults, readStates, splitStatus } from './rules.ts'
import {
  accountModes,
  codeVerificationStatuses,
  connectionStatuses,
  hostPlatforms,
  linkStatuses,
  listedCodeVerificationStatuses,
  listedQualityRatings,
  messagingLimitTiers,
  nameStatuses,
  qualityRatings,
  unifiedCertStatuses,
  usernameSchema,
  verifiedNameSchema,
  visibilities,
} from './schemas.ts'
import { describeRegistration } from './states.ts'

const schema = Type.Object({
  id: idSchema,
  account_number_id: Type.Optional(idSchema),
  display_phone_number: Type.String({
    maxLength: 64,
    'x-expects': 'a phone number in international format, in quotes',
  }),
  /** As long as the name of an account, which is its default. */
  verified_name: Type.Optional(nameSchema),
  registered: Type.Optional(Type.Boolean()),
  status: Type.Optional(Type.Enum([...new Set<string>([...linkStatuses, ...connectionStatuses])])),
  connection_status: Type.Optional(Type.Enum(connectionStatuses)),
  quality_rating: Type.Optional(Type.Enum([...new Set<string>([...qualityRatings, ...listedQualityRatings])])),
  country_code: Type.Optional(countrySchema),
  country_dial_code: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,2}$',
      maxLength: 3,
      'x-expects': 'a country calling code of 1 to 3 digits, in quotes',
    }),
  ),
  code_verification_status: Type.Optional(
    Type.Enum([...new Set<string>([...codeVerificationStatuses, ...listedCodeVerificationStatuses])]),
  ),
  name_status: Type.Optional(Type.Enum(nameStatuses)),
  unified_cert_status: Type.Optional(Type.Enum(unifiedCertStatuses)),
  account_mode: Type.Optional(Type.Enum(accountModes)),
  host_platform: Type.Optional(Type.Enum(hostPlatforms)),
  messaging_limit_tier: Type.Optional(Type.Enum(messagingLimitTiers)),
  is_official_business_account: Type.Optional(Type.Boolean()),
  username: Type.Optional(usernameSchema),
  new_display_name: Type.Optional(verifiedNameSchema),
  search_visibility: Type.Optional(Type.Enum(visibilities)),
  show_security_notifications: Type.Optional(Type.Boolean()),
  notify_user_change_number: Type.Optional(Type.Boolean()),
  calling_enabled: Type.Optional(Type.Boolean()),
  certificate: Type.Optional(Type.String({ maxLength: 16_384 })),
})
type Given = Static<typeof schema>

/** The part of an entry that its own checks and changes use. */
interface NumberEntry {
  readonly place: string
  readonly given: Given
  readonly parsed: InternationalNumber
}

export const numberEntries = defineWorldPart({
  key: 'phone_numbers',
  form: 'list',
  under: accountEntries,
  schema,
  nodes: [
    { kind: 'phone_number', key: 'id' },
    { kind: 'account_number', key: 'account_number_id' },
  ],
  extend({ given, place }, problems) {
    const parsed = readInternationalNumber(given.display_phone_number)
    if (parsed) return { parsed }
    problems.add(
      `${place}.display_phone_number`,
      'it must be a possible phone number in international format such as +1 631-555-1001.',
    )
    return undefined
  },
  checkFile(problems) {
    const digits = new Repeats(problems)
    const usernames = new Repeats(problems)
    return ({ given, place, parsed }) => {
      digits.note(parsed.phone_number, `${place}.display_phone_number`, 'that phone number')
      if (given.username) usernames.note(given.username, `${place}.username`, 'that username')
    }
  },
  async checkStore(numbers, check) {
    const leaving = await checkIds(numbers, check)
    await checkTaken(numbers, leaving, check)
    const releases = [
      vacate('phone_numbers', 'phone_number', [...leaving.phone_numbers]),
      vacate('phone_numbers', 'username', [...leaving.usernames]),
    ]
    return async (tx) => {
      for (const release of releases) await release(tx)
    }
  },
  async write(numbers, context) {
    const { tx, now, random, knownNodes } = context
    const without = numbers.filter(({ given }) => given.account_number_id === undefined && !knownNodes.has(given.id))
    const owners = without.map(({ parent: { given } }) => ({ business_id: given.business_id, account_id: given.id }))
    const made = await createNodes(tx, random, 'account_number', owners)
    const accountNumberIds = new Map(without.map(({ given }, index) => [given.id, made[index] as string]))
    await upsertNodes(context, 'phone_numbers', numbers, {
      create({ given, parent: { given: account }, parsed }) {
        const account_number_id = given.account_number_id ?? accountNumberIds.get(given.id)
        if (account_number_id === undefined) throw new Error(`no Account-Number-ID was made for ${given.id}`)
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
      },
      change: (number, stored) => changeNumber(number, stored, now),
    })
  },
  export: exportRows({
    table: 'phone_numbers',
    of: 'account_id',
    toEntries: (numbers) => numbers.map((number) => toEntry(schema, number, { status: number.link_status })),
  }),
})

/** The ids of numbers that give up their digits or their username. */
interface Leaving {
  readonly phone_numbers: Set<string>
  readonly usernames: Set<string>
}

async function checkIds(
  numbers: readonly NumberEntry[],
  { tx, problems, findStoredNode }: StoreCheck,
): Promise<Leaving> {
  const byId = new Map(numbers.map((number) => [number.given.id, number]))
  const ownIds = new Set<string>()
  const leaving: Leaving = { phone_numbers: new Set(), usernames: new Set() }
  const columns = ['id', 'account_number_id', 'phone_number', 'username'] as const
  for await (const row of readRows(tx, 'phone_numbers', 'id', columns, [...byId.keys()])) {
    const number = byId.get(row.id)
    if (!number) continue
    const { given, place, parsed } = number
    ownIds.add(row.id)
    if (given.account_number_id !== undefined && given.account_number_id !== row.account_number_id) {
      problems.add(
        `${place}.account_number_id`,
        `the store has ${row.account_number_id} for this number; give that, or leave it out.`,
      )
    }
    if (parsed.phone_number !== row.phone_number) leaving.phone_numbers.add(row.id)
    if (row.username !== null && given.username !== undefined && given.username !== row.username) {
      leaving.usernames.add(row.id)
    }
  }
  for (const { given, place } of numbers) {
    const { id, account_number_id } = given
    if (account_number_id === undefined || ownIds.has(id)) continue
    if (findStoredNode(account_number_id)?.kind === 'account_number') {
      problems.add(`${place}.account_number_id`, 'the store has it for another number; choose another.')
    }
  }
  return leaving
}

async function checkTaken(
  numbers: readonly NumberEntry[],
  leaving: Leaving,
  { tx, problems }: StoreCheck,
): Promise<void> {
  const digits = new Map(numbers.map((number) => [number.parsed.phone_number, number]))
  for await (const row of readRows(tx, 'phone_numbers', 'phone_number', ['id', 'phone_number'], [...digits.keys()])) {
    const number = digits.get(row.phone_number)
    if (!number || number.given.id === row.id || leaving.phone_numbers.has(row.id)) continue
    problems.add(
      `${number.place}.display_phone_number`,
      `the store has that phone number already, with the id ${row.id}; use that id, or another number.`,
    )
  }
  const named = new Map(
    numbers.filter(({ given }) => given.username).map((number) => [number.given.username ?? '', number]),
  )
  for await (const row of readRows(tx, 'phone_numbers', 'username', ['id', 'username'], [...named.keys()])) {
    const number = named.get(row.username ?? '')
    if (!number || number.given.id === row.id || leaving.usernames.has(row.id)) continue
    problems.add(
      `${number.place}.username`,
      `the store has that username already, for number ${row.id}; choose another.`,
    )
  }
}

/** `registered` stands for several states; they change with it, and otherwise stay as they are. */
function changeNumber(
  { given, parsed }: NumberEntry,
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

function givenColumns(given: Given): Partial<PhoneNumbersTable> {
  return {
    ...(given.status !== undefined && splitStatus(given.status)),
    ...readStates(given),
    ...pickGiven({
      // Lists and account numbers have different `status` values; where they differ, this is the second.
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
