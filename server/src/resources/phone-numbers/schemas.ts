import { type Static, Type } from 'typebox'
import { productName } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { callbackUrlSchema, verifyTokenSchema, webUrlStart } from '../webhooks/schemas.ts'

/** The link of the number to its account: the `status` of lists. The last two come only from world files. */
export const linkStatuses = [
  'PENDING',
  'LINKED',
  'UNLINKED',
  'DELETED',
  'MIGRATED',
  'BANNED',
  'RESTRICTED',
  'CONNECTED',
  'UNVERIFIED',
] as const
/** The connection of the number to the network: the `status` of an account number. */
export const connectionStatuses = [
  'CONNECTED',
  'DISCONNECTED',
  'UNVERIFIED',
  'PENDING',
  'FLAGGED',
  'RESTRICTED',
] as const
export const qualityRatings = ['GREEN', 'YELLOW', 'RED', 'NA'] as const
export const codeVerificationStatuses = ['VERIFIED', 'UNVERIFIED'] as const
export const nameStatuses = [
  'APPROVED',
  'AVAILABLE_WITHOUT_REVIEW',
  'DECLINED',
  'EXPIRED',
  'PENDING_REVIEW',
  'NONE',
] as const
export const unifiedCertStatuses = [
  'APPROVED',
  'NAME_PENDING_REVIEW',
  'NAME_NOT_APPROVED',
  'ACCOUNT_REVIEW_NOT_STARTED',
  'LIMITED_ACCESS',
] as const
export const accountModes = ['LIVE', 'SANDBOX'] as const
export const hostPlatforms = ['CLOUD_API', 'ON_PREMISE', 'NOT_APPLICABLE'] as const
export const messagingLimitTiers = [
  'TIER_50',
  'TIER_250',
  'TIER_1K',
  'TIER_10K',
  'TIER_100K',
  'TIER_UNLIMITED',
] as const

/** Lists spell "not determined" and "not verified" differently. */
export const listedQualityRatings = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'] as const
export const listedCodeVerificationStatuses = ['VERIFIED', 'NOT_VERIFIED'] as const

/** The form of a username; an empty one means none. */
export const verifiedNameSchema = Type.String({
  minLength: 2,
  maxLength: 75,
  description: 'The name that users see.',
})
export const usernameSchema = Type.String({
  pattern: '^([a-z0-9._]{3,35})?$',
  maxLength: 35,
  'x-expects': 'a string of 3 to 35 characters from a-z, 0-9, . and _, or empty',
})

const displayPhoneNumber = Type.String({ description: 'In international format.' })
const countryCode = Type.String({ description: 'ISO 3166-1 alpha-2.' })

export const listedNumberSchema = Type.Object({
  id: Type.Optional(Type.String()),
  display_phone_number: Type.Optional(displayPhoneNumber),
  verified_name: Type.Optional(Type.String()),
  status: Type.Optional(Type.Enum(linkStatuses)),
  quality_rating: Type.Optional(Type.Enum(listedQualityRatings)),
  country_code: Type.Optional(countryCode),
  country_dial_code: Type.Optional(Type.String()),
  code_verification_status: Type.Optional(Type.Enum(listedCodeVerificationStatuses)),
  unified_cert_status: Type.Optional(Type.Enum(unifiedCertStatuses)),
  account_mode: Type.Optional(Type.Enum(accountModes)),
  host_platform: Type.Optional(Type.Enum(hostPlatforms)),
  messaging_limit_tier: Type.Optional(Type.Enum(messagingLimitTiers)),
  is_official_business_account: Type.Optional(Type.Boolean()),
  username: Type.Optional(Type.String({ description: 'Empty when there is none.' })),
})

export const accountNumberSchema = Type.Object({
  id: Type.Optional(Type.String()),
  display_phone_number: Type.Optional(displayPhoneNumber),
  verified_name: Type.Optional(Type.String()),
  status: Type.Optional(Type.Enum(connectionStatuses)),
  quality_rating: Type.Optional(Type.Enum(qualityRatings)),
  country_code: Type.Optional(countryCode),
  country_dial_code: Type.Optional(Type.String()),
  code_verification_status: Type.Optional(Type.Enum(codeVerificationStatuses)),
  name_status: Type.Optional(Type.Enum(nameStatuses)),
  messaging_limit_tier: Type.Optional(Type.Enum(messagingLimitTiers)),
  account_mode: Type.Optional(Type.Enum(accountModes)),
  certificate: Type.Optional(Type.String()),
  is_official_business_account: Type.Optional(Type.Boolean()),
})

export const phoneNumberInfoSchema = Type.Object({
  id: Type.String(),
  display_phone_number: displayPhoneNumber,
  verified_name: Type.String(),
  quality_rating: Type.Enum(qualityRatings),
  code_verification_status: Type.Optional(Type.Enum(codeVerificationStatuses)),
  name_status: Type.Optional(Type.Enum(nameStatuses)),
})

export const numberCreationSchema = Type.Object({
  cc: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,2}$',
      maxLength: 3,
      'x-expects': 'a country calling code of 1 to 3 digits, such as 1',
    }),
  ),
  phone_number: Type.String({
    pattern: '^\\+?[\\d ().-]{4,30}$',
    maxLength: 31,
    'x-expects': 'a phone number in digits: with its country code, or without it where `cc` is given',
  }),
  verified_name: verifiedNameSchema,
  migrate_phone_number: Type.Optional(
    Type.Boolean({
      description: 'true: the number is in use on another platform; a number of this platform is not moved.',
    }),
  ),
})
export type NumberCreation = Static<typeof numberCreationSchema>

export const codeMethods = ['SMS', 'VOICE'] as const
export type CodeMethod = (typeof codeMethods)[number]

export const codeRequestSchema = Type.Object({
  code_method: Type.Enum(codeMethods, { description: 'How the code is sent.' }),
  language: Type.String({
    pattern: '^[a-z]{2,3}_[A-Z]{2}$',
    maxLength: 6,
    'x-expects': 'a language and a country such as en_US',
  }),
})

/** The length of a code is a setting: see the rules. */
export const codeVerificationSchema = Type.Object({
  code: Type.String({ maxLength: 64, description: 'The code that came by SMS or voice call.' }),
})

export function registrationSchema(vocabulary: Vocabulary) {
  return Type.Object({
    messaging_product: productName(vocabulary),
    pin: Type.String({ pattern: '^\\d{6}$', maxLength: 6, 'x-expects': 'a PIN of 6 digits' }),
  })
}

/** The connection statuses that a business sets; the platform sets the others. */
export const settableConnectionStatuses = ['CONNECTED', 'DISCONNECTED'] as const
const writtenConnectionStatuses = [
  ...settableConnectionStatuses,
  'PENDING',
  'UNVERIFIED',
  'FLAGGED',
  'RESTRICTED',
  'RATE_LIMITED',
  'MESSAGING_LIMIT_TIER_0',
  'MESSAGING_LIMIT_TIER_1',
  'MESSAGING_LIMIT_TIER_2',
  'MESSAGING_LIMIT_TIER_3',
  'MESSAGING_LIMIT_TIER_4',
] as const

export const visibilities = ['VISIBLE', 'HIDDEN'] as const

const writtenPin = Type.String({
  pattern: '^(\\d{6})?$',
  maxLength: 6,
  'x-expects': 'a PIN of 6 digits, or empty to remove it',
})

export const numberSettingsSchema = Type.Object({
  connection_status: Type.Optional(
    Type.Enum(writtenConnectionStatuses, {
      description: 'A business sets CONNECTED or DISCONNECTED; the platform sets the others.',
    }),
  ),
  webhook_url: Type.Optional(callbackUrlSchema),
  whatsapp_business_api_data: Type.Optional(
    Type.Object(
      {
        pin: Type.Optional(writtenPin),
        show_security_notifications: Type.Optional(
          Type.Boolean({ description: 'Whether users are notified when the keys of a chat change.' }),
        ),
        notify_user_change_number: Type.Optional(
          Type.Boolean({ description: 'Whether users are notified when the number of the business changes.' }),
        ),
      },
      { description: 'More settings of the number.' },
    ),
  ),
  pin: Type.Optional(writtenPin),
  search_visibility: Type.Optional(
    Type.Enum(visibilities, { description: 'Whether users find the number by searching.' }),
  ),
  webhook_configuration: Type.Optional(
    Type.Object(
      {
        override_callback_uri: Type.String({
          pattern: `^(${webUrlStart}.*)?$`,
          maxLength: 200,
          'x-expects': 'an http or https URL of at most 200 characters, or empty to remove it',
        }),
        verify_token: Type.Optional(verifyTokenSchema),
        temporary: Type.Optional(
          Type.Boolean({
            description:
              'true: the URL stands in front of every other callback of the app for this number, which stay as they are, until an empty one, also with true, removes it.',
          }),
        ),
        only_if: Type.Optional(
          Type.String({
            maxLength: 200,
            description:
              'With temporary: true and an empty override_callback_uri, removes the URL only where it is this one: whoever was replaced meanwhile leaves its successor alone.',
          }),
        ),
      },
      { description: 'Where the events of this number are sent, instead of to the callback of the app.' },
    ),
  ),
  new_display_name: Type.Optional(verifiedNameSchema),
  username: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9._]{3,35}$',
      maxLength: 35,
      'x-expects': 'a string of 3 to 35 characters from a-z, 0-9, . and _',
    }),
  ),
})
export type NumberSettings = Static<typeof numberSettingsSchema>
