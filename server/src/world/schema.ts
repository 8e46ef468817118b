import { type Static, type TSchema, Type } from 'typebox'
import { webhookFields } from '../delivery/webhook-fields.ts'
import { scopes } from '../graph/caller.ts'
import { nodeIdPattern } from '../graph/nodes.ts'
import { accountReviewStatuses, businessVerificationStatuses, ownershipTypes } from '../resources/account/schemas.ts'
import { writtenCommandSchema, writtenPromptSchema } from '../resources/bot/schemas.ts'
import { callPermissionStatuses, expirationTimeSchema, userWaIdSchema } from '../resources/calls/schemas.ts'
import { complianceMembers } from '../resources/compliance/schemas.ts'
import { groupMembers } from '../resources/groups/schemas.ts'
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
} from '../resources/phone-numbers/schemas.ts'
import { migrationIntentStatuses } from '../resources/portfolio/schemas.ts'
import { profileMembers, websiteSchema } from '../resources/profile/schemas.ts'
import { prefilledMessageSchema, qrCodeSchema } from '../resources/qr-codes/schemas.ts'
import { scheduleMembers, scheduleStatuses } from '../resources/schedules/schemas.ts'
import { partnerKinds } from '../resources/solutions/schemas.ts'
import { callbackUrlSchema, verifyTokenSchema } from '../resources/webhooks/schemas.ts'

/*
 * The whole world file. Forms and enumerations are those of the API; the counts that limit the API (items of a list,
 * numbers of an account) do not bind a file, so where a chapter's schema has a `maxItems` the list is written anew here.
 */

export const idExpectation = 'an id: a string (in quotes) of 15 or 16 digits, without a 0 in front and below 2^53'

const id = Type.String({ pattern: nodeIdPattern.source, maxLength: 16, 'x-expects': idExpectation })
const name = Type.String({ minLength: 1, maxLength: 100 })
const country = Type.String({
  pattern: '^[A-Z]{2}$',
  maxLength: 2,
  'x-expects': 'a country code of two capital letters such as US',
})
const text = Type.String({ minLength: 1, maxLength: 256 })

/** Which others something is tied to: exactly these. An empty list, or a key without a value, says none. */
const idList = Type.Union([Type.Array(id), Type.Null()], { 'x-expects': 'an array of ids, or null for none' })

/** Both vocabularies' spellings, so that one file serves both. */
const scopeSpellings = [
  ...scopes,
  ...scopes.filter(isProductScope).map((scope) => scope.replace(/^msgapp_/, 'whatsapp_')),
]

function isProductScope(scope: string): boolean {
  return scope.startsWith('msgapp_')
}

const business = Type.Object({
  id,
  name,
  timezone_id: Type.Optional(Type.Integer({ minimum: 0 })),
  extended_credits: Type.Optional(Type.Array(Type.Object({ id, legal_entity_name: Type.Optional(text) }))),
})

const app = Type.Object({
  id,
  business_id: id,
  name: Type.Optional(name),
  secret: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  partner_kind: Type.Optional(Type.Enum(partnerKinds)),
  first_party: Type.Optional(Type.Boolean()),
  webhook: Type.Optional(
    Type.Object({
      callback_url: callbackUrlSchema,
      verify_token: Type.Optional(verifyTokenSchema),
      fields: Type.Optional(
        Type.Array(Type.Enum(webhookFields), { maxItems: webhookFields.length, uniqueItems: true }),
      ),
    }),
  ),
})

const token = Type.Object({
  token: Type.String({
    pattern: '^[\\x21-\\x7e]{1,512}$',
    maxLength: 512,
    'x-expects': 'a secret of 1 to 512 letters, digits and signs of ASCII, without blanks',
  }),
  app_id: id,
  scopes: Type.Optional(Type.Array(Type.Enum(scopeSpellings))),
  accounts: Type.Optional(Type.Array(id)),
  expires_at: Type.Optional(Type.String({ format: 'date-time', maxLength: 64 })),
})

const phoneNumber = Type.Object({
  id,
  account_number_id: Type.Optional(id),
  display_phone_number: Type.String({ 'x-expects': 'a phone number in international format, in quotes' }),
  /** As long as the name of an account, which it is when it is left out. */
  verified_name: Type.Optional(name),
  registered: Type.Optional(Type.Boolean()),
  status: Type.Optional(Type.Enum([...new Set<string>([...linkStatuses, ...connectionStatuses])])),
  connection_status: Type.Optional(Type.Enum(connectionStatuses)),
  quality_rating: Type.Optional(Type.Enum([...new Set<string>([...qualityRatings, ...listedQualityRatings])])),
  country_code: Type.Optional(country),
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
  profile: Type.Optional(Type.Object({ ...profileMembers, websites: Type.Optional(Type.Array(websiteSchema)) })),
  compliance: Type.Optional(Type.Object(complianceMembers)),
  qr_codes: Type.Optional(Type.Array(Type.Object({ code: qrCodeSchema, prefilled_message: prefilledMessageSchema }))),
  groups: Type.Optional(Type.Array(Type.Object({ id, ...groupMembers }))),
})

const account = Type.Object({
  id,
  business_id: id,
  name: Type.String(),
  timezone_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  message_template_namespace: Type.Optional(text),
  account_review_status: Type.Optional(Type.Enum(accountReviewStatuses)),
  business_verification_status: Type.Optional(Type.Enum(businessVerificationStatuses)),
  country: Type.Optional(country),
  ownership_type: Type.Optional(Type.Enum(ownershipTypes)),
  primary_business_location: Type.Optional(text),
  shared_with: Type.Optional(idList),
  on_behalf_of: Type.Optional(Type.Union([id, Type.Null()], { 'x-expects': `${idExpectation}; or null for nobody` })),
  small_business: Type.Optional(Type.Boolean()),
  subscribed_apps: Type.Optional(idList),
  phone_numbers: Type.Optional(Type.Array(phoneNumber)),
  bots: Type.Optional(
    Type.Array(
      Type.Object({
        id,
        phone_number_id: Type.Optional(id),
        prompts: Type.Optional(Type.Array(writtenPromptSchema)),
        commands: Type.Optional(Type.Array(writtenCommandSchema)),
        enable_welcome_message: Type.Optional(Type.Boolean()),
      }),
    ),
  ),
  schedules: Type.Optional(
    Type.Array(Type.Object({ id, ...scheduleMembers, status: Type.Optional(Type.Enum(scheduleStatuses)) })),
  ),
  migration_intents: Type.Optional(
    Type.Array(Type.Object({ id, status: Type.Optional(Type.Enum(migrationIntentStatuses)) })),
  ),
})

const callPermission = Type.Object({
  phone_number_id: id,
  user_wa_id: userWaIdSchema,
  status: Type.Enum(callPermissionStatuses),
  expiration_time: Type.Optional(expirationTimeSchema),
})

const openWorldSchema = Type.Object(
  {
    businesses: Type.Optional(Type.Array(business)),
    apps: Type.Optional(Type.Array(app)),
    tokens: Type.Optional(Type.Array(token)),
    accounts: Type.Optional(Type.Array(account)),
    call_permissions: Type.Optional(Type.Array(callPermission)),
  },
  { 'x-expects': 'a mapping with the keys businesses, apps, tokens, accounts and call_permissions' },
)

export const worldSchema = refuseUnknownKeys(openWorldSchema)

/** A world file that was read: what it says, and what to call it when something is wrong with it. */
export interface World {
  readonly name: string
  readonly content: WorldContent
}

export type WorldContent = Static<typeof openWorldSchema>
export type WorldBusiness = Static<typeof business>
export type WorldCredit = NonNullable<WorldBusiness['extended_credits']>[number]
export type WorldApp = Static<typeof app>
export type WorldToken = Static<typeof token>
export type WorldAccount = Static<typeof account>
export type WorldNumber = Static<typeof phoneNumber>
export type WorldQrCode = NonNullable<WorldNumber['qr_codes']>[number]
export type WorldGroup = NonNullable<WorldNumber['groups']>[number]
export type WorldBot = NonNullable<WorldAccount['bots']>[number]
export type WorldSchedule = NonNullable<WorldAccount['schedules']>[number]
export type WorldIntent = NonNullable<WorldAccount['migration_intents']>[number]
export type WorldCallPermission = Static<typeof callPermission>

/** The API ignores members that it does not know; in a file they are mistakes, at every depth. */
function refuseUnknownKeys<S extends TSchema>(schema: S): S {
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema }
  if (properties) {
    const closed = Object.entries(properties).map(([key, member]) => [key, refuseUnknownKeys(member)])
    return { ...schema, properties: Object.fromEntries(closed), additionalProperties: false }
  }
  return items ? { ...schema, items: refuseUnknownKeys(items) } : schema
}
