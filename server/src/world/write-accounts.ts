import type { AccountAccessTable } from '../db/tables.ts'
import { accountDefaults, makeTemplateNamespace } from '../resources/account/rules.ts'
import { botDefaults } from '../resources/bot/rules.ts'
import { findExpiry, readScheduleState, toStoredSchedule } from '../resources/schedules/rules.ts'
import { bringRows, type WriteParts } from './rows.ts'
import type { WorldAccount } from './schema.ts'
import type { Things } from './things.ts'
import { withdrawFormerAccess, writeLinks } from './write-access.ts'
import { pickGiven } from './write-tenants.ts'

/** Accounts, who sees them, and which apps hear of them. */
export async function writeAccounts(parts: WriteParts, { accounts }: Things): Promise<void> {
  const { now, random } = parts
  await bringRows(
    parts,
    {
      table: 'accounts',
      key: ['id'],
      keyOf: ({ given }) => [given.id],
      nodeOf: ({ given }) => given.id,
      create: ({ given }) => ({
        id: given.id,
        business_id: given.business_id,
        message_template_namespace: makeTemplateNamespace(random),
        created_time: now,
        ...accountDefaults,
        ...givenColumns(given),
        name: given.name.trim(),
      }),
      change: ({ given }) => givenColumns(given),
    },
    accounts,
  )
  // Given before anything is taken: a business that keeps its access for another reason keeps what rests on it.
  await bringRows(
    parts,
    {
      table: 'account_access',
      key: ['account_id', 'business_id', 'relation'],
      keyOf: ({ account_id, business_id, relation }) => [account_id, business_id, relation],
      nodeOf: ({ account_id }) => account_id,
      create: (access) => access,
      change: () => ({}),
    },
    accounts.flatMap(({ given }) => listAccess(given)),
  )
  await withdrawFormerAccess(parts, accounts)
  await writeLinks(parts, accounts)
}

function givenColumns(given: WorldAccount) {
  return pickGiven({
    name: given.name.trim(),
    timezone_id: given.timezone_id,
    message_template_namespace: given.message_template_namespace,
    account_review_status: given.account_review_status,
    business_verification_status: given.business_verification_status,
    country: given.country,
    ownership_type: given.ownership_type,
    primary_business_location: given.primary_business_location,
    small_business: given.small_business,
  })
}

function listAccess({ id, business_id, shared_with, on_behalf_of }: WorldAccount): AccountAccessTable[] {
  return [
    { account_id: id, business_id, relation: 'owner' },
    ...[...new Set(shared_with)].map((shared) => ({
      account_id: id,
      business_id: shared,
      relation: 'shared' as const,
    })),
    ...(typeof on_behalf_of === 'string'
      ? [{ account_id: id, business_id: on_behalf_of, relation: 'on_behalf_of' as const }]
      : []),
  ]
}

/** What an account has besides its numbers. */
export async function writeAccountParts(parts: WriteParts, { bots, schedules, intents }: Things): Promise<void> {
  const { now } = parts
  await bringRows(
    parts,
    {
      table: 'bots',
      key: ['id'],
      keyOf: ({ given }) => [given.id],
      nodeOf: ({ given }) => given.id,
      create: ({ given: { id, ...given }, account }) => ({
        id,
        account_id: account.id,
        phone_number_id: null,
        ...botDefaults,
        ...pickGiven(given),
      }),
      change: ({ given: { id: _id, ...given } }) => pickGiven(given),
    },
    bots,
  )
  await bringRows(
    parts,
    {
      table: 'schedules',
      key: ['id'],
      keyOf: ({ given }) => [given.id],
      nodeOf: ({ given }) => given.id,
      create: ({ given, account }) => ({
        id: given.id,
        account_id: account.id,
        ...toStoredSchedule(given),
        created_time: now,
        updated_time: now,
      }),
      change: ({ given: { id: _id, status, is_active, ...given } }, stored) => ({
        ...readScheduleState({ status, is_active }),
        ...pickGiven(given),
        expires_time: findExpiry({
          timezone: given.timezone ?? stored.timezone,
          recurrence_pattern: given.recurrence_pattern ?? stored.recurrence_pattern,
        }),
      }),
      touch: { updated_time: now },
    },
    schedules,
  )
  await bringRows(
    parts,
    {
      table: 'migration_intents',
      key: ['id'],
      keyOf: ({ given }) => [given.id],
      nodeOf: ({ given }) => given.id,
      create: ({ given: { id, status = 'INITIATED' }, account }) => ({ id, account_id: account.id, status }),
      change: ({ given: { status } }) => pickGiven({ status }),
    },
    intents,
  )
}
