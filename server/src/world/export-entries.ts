import type {
  AccountAccessTable,
  AccountsTable,
  AppSubscriptionsTable,
  AppsTable,
  BotsTable,
  BusinessesTable,
  BusinessProfilesTable,
  CallPermissionsTable,
  ComplianceInfoTable,
  ExtendedCreditsTable,
  GroupsTable,
  MigrationIntentsTable,
  PhoneNumbersTable,
  QrCodesTable,
  SchedulesTable,
} from '../db/tables.ts'
import type {
  WorldAccount,
  WorldApp,
  WorldBot,
  WorldBusiness,
  WorldCallPermission,
  WorldIntent,
  WorldNumber,
  WorldSchedule,
} from './schema.ts'

/*
 * Rows as the entries of a world file. Every key of the file's schema is named here, which the type `Whole` holds: a key that
 * the file can hold cannot be forgotten. The order of keys is fixed, because databases do not keep that of JSON.
 */

type Whole<Entry> = Record<keyof Required<Entry>, unknown>

/** What an account holds besides these is written in batches of its own. */
export type AccountEntry = Omit<WorldAccount, 'phone_numbers' | 'bots' | 'schedules' | 'migration_intents'>

export function toBusinessEntry(business: BusinessesTable, credits: readonly ExtendedCreditsTable[]): object {
  return withoutGaps<Whole<WorldBusiness>>({
    id: business.id,
    name: business.name,
    timezone_id: business.timezone_id,
    extended_credits: unlessEmpty(credits.map(({ id, legal_entity_name }) => ({ id, legal_entity_name }))),
  })
}

/** What an app has sealed, in clear: the file holds it. */
export interface AppSecrets {
  readonly secret: string
  readonly verify_token: string | undefined
}

export function toAppEntry(
  app: AppsTable,
  subscription: AppSubscriptionsTable | undefined,
  { secret, verify_token }: AppSecrets,
): object {
  return withoutGaps<Whole<WorldApp>>({
    id: app.id,
    business_id: app.business_id,
    name: app.name,
    secret,
    partner_kind: app.partner_kind,
    first_party: app.first_party,
    webhook: subscription && {
      callback_url: subscription.callback_url,
      verify_token,
      fields: subscription.fields,
    },
  })
}

export function toAccountEntry(
  account: AccountsTable,
  access: readonly AccountAccessTable[],
  subscribed_apps: readonly string[],
): object {
  const having = (relation: AccountAccessTable['relation']) =>
    access.filter((one) => one.relation === relation).map(({ business_id }) => business_id)
  const entry: Whole<AccountEntry> = {
    id: account.id,
    business_id: account.business_id,
    name: account.name,
    timezone_id: account.timezone_id,
    message_template_namespace: account.message_template_namespace,
    account_review_status: account.account_review_status,
    business_verification_status: account.business_verification_status,
    country: account.country,
    ownership_type: account.ownership_type,
    primary_business_location: account.primary_business_location,
    shared_with: having('shared'),
    on_behalf_of: having('on_behalf_of')[0] ?? null,
    small_business: account.small_business,
    subscribed_apps,
  }
  // Who else has access is said also where it is nobody: left out it would say nothing.
  return withoutGaps(entry, ['on_behalf_of'])
}

/** What hangs on a number. */
export interface NumberParts {
  readonly profile: BusinessProfilesTable | undefined
  readonly compliance: ComplianceInfoTable | undefined
  readonly qrCodes: readonly QrCodesTable[]
  readonly groups: readonly GroupsTable[]
}

export function toNumberEntry(number: PhoneNumbersTable, parts: NumberParts): object {
  return withoutGaps<Whole<WorldNumber>>({
    id: number.id,
    account_number_id: number.account_number_id,
    display_phone_number: number.display_phone_number,
    verified_name: number.verified_name,
    registered: number.registered,
    status: number.link_status,
    connection_status: number.connection_status,
    quality_rating: number.quality_rating,
    country_code: number.country_code,
    country_dial_code: number.country_dial_code,
    code_verification_status: number.code_verification_status,
    name_status: number.name_status,
    unified_cert_status: number.unified_cert_status,
    account_mode: number.account_mode,
    host_platform: number.host_platform,
    messaging_limit_tier: number.messaging_limit_tier,
    is_official_business_account: number.is_official_business_account,
    username: number.username,
    new_display_name: number.new_display_name,
    search_visibility: number.search_visibility,
    show_security_notifications: number.show_security_notifications,
    notify_user_change_number: number.notify_user_change_number,
    calling_enabled: number.calling_enabled,
    certificate: number.certificate,
    profile: parts.profile && toProfileEntry(parts.profile),
    compliance: parts.compliance && toComplianceEntry(parts.compliance),
    qr_codes: unlessEmpty(parts.qrCodes.map(({ code, prefilled_message }) => ({ code, prefilled_message }))),
    groups: unlessEmpty(
      parts.groups.map(({ id, subject, description, join_approval_mode }) => ({
        id,
        subject,
        description,
        join_approval_mode,
      })),
    ),
  })
}

function toProfileEntry(profile: BusinessProfilesTable): object {
  return withoutGaps<Whole<NonNullable<WorldNumber['profile']>>>({
    about: profile.about,
    address: profile.address,
    description: profile.description,
    email: profile.email,
    websites: profile.websites,
    vertical: profile.vertical,
  })
}

function toComplianceEntry(info: ComplianceInfoTable): object {
  const { grievance_officer_details: officer, customer_care_details: care } = info
  return withoutGaps<Whole<NonNullable<WorldNumber['compliance']>>>({
    entity_name: info.entity_name,
    entity_type: info.entity_type,
    entity_type_custom: info.entity_type_custom,
    is_registered: info.is_registered,
    grievance_officer_details: { name: officer['name'], ...toContactEntry(officer) },
    customer_care_details: toContactEntry(care),
  })
}

function toContactEntry(contact: Readonly<Record<string, string>>): object {
  return withoutGaps({
    email: contact['email'],
    mobile_number: contact['mobile_number'],
    landline_number: contact['landline_number'],
  })
}

export function toBotEntry(bot: BotsTable): object {
  return withoutGaps<Whole<WorldBot>>({
    id: bot.id,
    phone_number_id: bot.phone_number_id,
    prompts: bot.prompts,
    commands: bot.commands.map(({ command_name, command_description }) => ({ command_name, command_description })),
    enable_welcome_message: bot.enable_welcome_message,
  })
}

export function toScheduleEntry(schedule: SchedulesTable): object {
  const { recurrence_pattern } = schedule
  return withoutGaps<Whole<WorldSchedule>>({
    id: schedule.id,
    name: schedule.name,
    schedule_type: schedule.schedule_type,
    status: schedule.status,
    is_active: schedule.is_active,
    description: schedule.description,
    start_time: schedule.start_time,
    end_time: schedule.end_time,
    timezone: schedule.timezone,
    days_of_week: schedule.days_of_week,
    recurrence_pattern:
      recurrence_pattern &&
      withoutGaps({
        frequency: recurrence_pattern.frequency,
        interval: recurrence_pattern.interval,
        end_date: recurrence_pattern.end_date,
      }),
  })
}

export function toIntentEntry({ id, status }: MigrationIntentsTable): object {
  return withoutGaps<Whole<WorldIntent>>({ id, status })
}

export function toPermissionEntry(permission: CallPermissionsTable): object {
  return withoutGaps<Whole<WorldCallPermission>>({
    phone_number_id: permission.phone_number_id,
    user_wa_id: permission.user_wa_id,
    status: permission.status,
    expiration_time: permission.expiration_time,
  })
}

/** The entry without the keys that have no value, but for some. */
function withoutGaps<Entry extends object>(entry: Entry, kept: readonly (keyof Entry)[] = []): object {
  const hasValue = ([key, value]: [string, unknown]) =>
    (value !== null && value !== undefined) || kept.includes(key as keyof Entry)
  return Object.fromEntries(Object.entries(entry).filter(hasValue))
}

function unlessEmpty<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items
}
