import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import type { PhoneNumbersTable } from '../../db/tables.ts'
import { describeHealth, healthSchema } from '../../graph/health.ts'
import type { Node } from '../../graph/nodes.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import {
  accountModes,
  connectionStatuses,
  hostPlatforms,
  listedQualityRatings,
  messagingLimitTiers,
  nameStatuses,
  visibilities,
} from './schemas.ts'

/** Number fields in the types of client libraries that come from its row. */
const ofRow = {
  platform_type: Type.Optional(Type.Enum(hostPlatforms)),
  throughput: Type.Optional(Type.Object({ level: Type.Enum(['STANDARD', 'NOT_APPLICABLE']) })),
  quality_score: Type.Optional(Type.Object({ score: Type.Enum(listedQualityRatings) })),
  name_status: Type.Optional(Type.Enum(nameStatuses)),
  new_name_status: Type.Optional(Type.Enum(nameStatuses)),
  certificate: Type.Optional(Type.String()),
  last_onboarded_time: Type.Optional(Type.String({ format: 'date-time' })),
  search_visibility: Type.Optional(Type.Enum(visibilities)),
  is_on_biz_app: Type.Optional(Type.Boolean({ description: 'Always false: there is no such app here.' })),
  is_preverified_number: Type.Optional(Type.Boolean({ description: 'Always false: numbers are verified by a code.' })),
  health_status: Type.Optional(healthSchema),
}

/** The same, besides the specification's info of a number. */
const ofInfo = {
  ...ofRow,
  status: Type.Optional(Type.Enum(connectionStatuses)),
  account_mode: Type.Optional(Type.Enum(accountModes)),
  messaging_limit_tier: Type.Optional(Type.Enum(messagingLimitTiers)),
  is_official_business_account: Type.Optional(Type.Boolean()),
  country_code: Type.Optional(Type.String({ description: 'ISO 3166-1 alpha-2.' })),
  country_dial_code: Type.Optional(Type.String()),
  is_pin_enabled: Type.Optional(Type.Boolean()),
  webhook_configuration: Type.Optional(
    Type.Object({
      application: Type.Optional(Type.String({ description: "The callback of the token's app." })),
      whatsapp_business_account: Type.Optional(Type.String({ description: 'Its override for the account.' })),
      phone_number: Type.Optional(Type.String({ description: 'Its override for the number.' })),
    }),
  ),
}

export function libraryListMembers({ habits }: Vocabulary): Partial<typeof ofRow> {
  return habits.library_fields ? ofRow : {}
}

export function libraryInfoMembers({ habits }: Vocabulary): Partial<typeof ofInfo> {
  return habits.library_fields ? ofInfo : {}
}

/** The fields of a row under the names of client libraries. */
export function describeForLibraries(row: PhoneNumbersTable) {
  const { host_platform, quality_rating, registered, new_display_name, name_status, last_onboarded_time } = row
  return {
    platform_type: host_platform,
    throughput: { level: host_platform === 'CLOUD_API' ? 'STANDARD' : 'NOT_APPLICABLE' },
    quality_score: { score: quality_rating === 'NA' ? 'UNKNOWN' : quality_rating },
    new_name_status: new_display_name === null ? 'NONE' : name_status,
    last_onboarded_time: last_onboarded_time === 0 ? undefined : new Date(last_onboarded_time).toISOString(),
    is_on_biz_app: false,
    is_preverified_number: false,
    health_status: describeHealth(
      'PHONE_NUMBER',
      row.id,
      registered && row.connection_status === 'CONNECTED' ? 'AVAILABLE' : 'BLOCKED',
    ),
  }
}

/** The same with fields of other tables, which are read only on demand. */
export async function findForLibraries(
  db: Db,
  { node, app_id, fields }: { node: Node; app_id: string; fields: readonly string[] },
  row: PhoneNumbersTable,
): Promise<object> {
  return {
    ...row,
    status: row.connection_status,
    ...describeForLibraries(row),
    ...(fields.includes('is_pin_enabled') && { is_pin_enabled: await hasPin(db, node) }),
    ...(fields.includes('webhook_configuration') && { webhook_configuration: await findCallbacks(db, node, app_id) }),
  }
}

async function hasPin({ query }: Db, { id }: Node): Promise<boolean> {
  const pin = await query
    .selectFrom('two_step_pins')
    .select('phone_number_id')
    .where('phone_number_id', '=', id)
    .executeTakeFirst()
  return pin !== undefined
}

/** Where an app receives the events of a number. */
async function findCallbacks({ query }: Db, { id, account_id }: Node, app_id: string): Promise<object> {
  const found = await query
    .selectFrom('apps')
    .leftJoin('app_subscriptions', 'app_subscriptions.app_id', 'apps.id')
    .leftJoin('subscribed_apps', (join) =>
      join.onRef('subscribed_apps.app_id', '=', 'apps.id').on('subscribed_apps.account_id', '=', account_id),
    )
    .leftJoin('phone_number_callbacks as numbers', (join) =>
      join.onRef('numbers.app_id', '=', 'apps.id').on('numbers.phone_number_id', '=', id),
    )
    .select([
      'app_subscriptions.callback_url as application',
      'subscribed_apps.override_callback_uri as account',
      'numbers.temporary_callback_uri',
      'numbers.override_callback_uri',
      'numbers.webhook_url',
    ])
    .where('apps.id', '=', app_id)
    .executeTakeFirst()
  const phone_number = found?.temporary_callback_uri ?? found?.override_callback_uri ?? found?.webhook_url
  return {
    ...(found?.application && { application: found.application }),
    ...(found?.account && { whatsapp_business_account: found.account }),
    ...(phone_number && { phone_number }),
  }
}
