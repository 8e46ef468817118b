/**
 * The world of the tests: an owner, a partner that was given some of the owner's accounts, and a stranger whose things nobody
 * else may see. Ids are chosen so that a reader can tell who owns what: …1 the owner's, …2 the partner's, …9 the stranger's.
 */
export const ids = {
  business: '2000000000000001',
  application: '3000000000000001',
  account: '1000000000000001',
  phone_number: '4000000000000001',
  account_number: '4100000000000001',
  bot: '5000000000000001',
  group: '6000000000000001',
  schedule: '7000000000000001',
  migration_intent: '8000000000000001',
  extended_credit: '2100000000000001',
  solution: '8100000000000001',
  upload: 'upload:ofTheOwner00000000000000000000000',
  media: '8200000000000001',
  template: '5100000000000001',
  business_user: '2300000000000001',
} as const

/** The same kinds, of a tenant that shares nothing with the owner. */
export const strangerIds: Record<keyof typeof ids, string> = {
  business: '2000000000000009',
  application: '3000000000000009',
  account: '1000000000000009',
  phone_number: '4000000000000009',
  account_number: '4100000000000009',
  bot: '5000000000000009',
  group: '6000000000000009',
  schedule: '7000000000000009',
  migration_intent: '8000000000000009',
  extended_credit: '2100000000000009',
  solution: '8100000000000009',
  upload: 'upload:ofTheStranger0000000000000000000',
  media: '8200000000000009',
  template: '5100000000000009',
  business_user: '2300000000000009',
}

export const partnerIds = {
  business: '2000000000000002',
  application: '3000000000000002',
} as const

/** Accounts of the owner besides `ids.account`, by who else sees them. */
export const accounts = {
  private: ids.account,
  shared: '1000000000000002',
  onBehalf: '1000000000000003',
  smallBusiness: '1000000000000004',
} as const

export const numbers = {
  /** Registered, in `accounts.private`. */
  main: ids.phone_number,
  /** Not registered, in `accounts.private`. */
  fresh: '4000000000000003',
  /** In `accounts.shared`. */
  shared: '4000000000000002',
  smallBusiness: '4000000000000004',
} as const

export const templates = {
  /** Approved, with two variables. */
  order: '5100000000000002',
  /** For the generic tests to delete by name. */
  closing: '5100000000000003',
} as const

export const qrCodes = {
  /** Of `numbers.main`. */
  main: 'ABCDEFGHIJKLMN',
  /** Of `numbers.main` too: the generic tests delete it. */
  spare: 'SPRINGSALE2026',
  /** Of the stranger's number. */
  stranger: 'STRANGERSCODE9',
} as const

/** Users, by whether they let `numbers.main` call. */
export const users = {
  granting: '16505551234',
  pending: '16505551236',
  denying: '16505551237',
  /** Was never asked. */
  unasked: '16505551239',
} as const

export const tokens = {
  owner: 'token-of-the-owner',
  managementOnly: 'token-for-management-only',
  messagingOnly: 'token-for-messaging-only',
  unscoped: 'token-with-no-business-scope',
  granular: 'token-for-one-account',
  expired: 'token-that-has-expired',
  revoked: 'token-that-was-revoked',
  partner: 'token-of-the-partner',
  stranger: 'token-of-the-stranger',
  gateway: 'token-of-the-gateway',
  operator: 'token-of-the-operator',
  /** Sees the business of the stranger alone. */
  limitedOperator: 'token-of-an-operator-for-one-business',
} as const

const bothScopes = ['msgapp_business_management', 'msgapp_business_messaging']

/** A fresh copy, for a test to alter. */
export function testWorld() {
  return {
    businesses: [
      {
        id: ids.business,
        name: 'Lucky Shrub',
        timezone_id: 1,
        users: [{ id: ids.business_user, name: 'Ada Shrub', email: 'ada@lucky-shrub.example' }],
        extended_credits: [{ id: ids.extended_credit, legal_entity_name: 'Lucky Shrub LLC' }],
      },
      { id: partnerIds.business, name: 'Green Partner', timezone_id: 5 },
      {
        id: strangerIds.business,
        name: 'Stranger',
        timezone_id: 9,
        users: [{ id: strangerIds.business_user, name: 'Sven Stranger', email: 'sven@stranger.example' }],
        extended_credits: [{ id: strangerIds.extended_credit, legal_entity_name: 'Stranger LLC' }],
      },
    ],
    apps: [
      {
        id: ids.application,
        business_id: ids.business,
        name: 'Shrub CRM',
        secret: 'shrub-app-secret',
        partner_kind: 'TECH_PROVIDER',
      },
      {
        id: partnerIds.application,
        business_id: partnerIds.business,
        name: 'Partner Suite',
        secret: 'partner-app-secret',
        partner_kind: 'SOLUTION_PROVIDER',
      },
      {
        id: strangerIds.application,
        business_id: strangerIds.business,
        name: 'Stranger App',
        secret: 'stranger-secret',
      },
    ],
    tokens: [
      { token: tokens.owner, app_id: ids.application, scopes: bothScopes },
      { token: tokens.managementOnly, app_id: ids.application, scopes: ['msgapp_business_management'] },
      { token: tokens.messagingOnly, app_id: ids.application, scopes: ['msgapp_business_messaging'] },
      { token: tokens.unscoped, app_id: ids.application, scopes: ['business_management'] },
      { token: tokens.granular, app_id: ids.application, scopes: bothScopes, accounts: [accounts.shared] },
      { token: tokens.expired, app_id: ids.application, scopes: bothScopes, expires_at: '2026-05-31T00:00:00Z' },
      { token: tokens.revoked, app_id: ids.application, scopes: bothScopes },
      { token: tokens.partner, app_id: partnerIds.application, scopes: bothScopes },
      { token: tokens.stranger, app_id: strangerIds.application, scopes: bothScopes },
      { token: tokens.gateway, app_id: ids.application, scopes: ['gateway'] },
      { token: tokens.operator, app_id: ids.application, scopes: ['operator'] },
      {
        token: tokens.limitedOperator,
        app_id: ids.application,
        scopes: ['operator'],
        businesses: [strangerIds.business],
      },
    ],
    accounts: [
      {
        id: accounts.private,
        business_id: ids.business,
        name: 'Lucky Shrub Retail',
        timezone_id: '1',
        country: 'US',
        account_review_status: 'APPROVED',
        business_verification_status: 'VERIFIED',
        ownership_type: 'SELF_OWNED',
        primary_business_location: 'US',
        message_template_namespace: 'lucky_shrub_templates',
        subscribed_apps: [ids.application],
        phone_numbers: [
          {
            id: numbers.main,
            account_number_id: ids.account_number,
            display_phone_number: '+1 631-555-1001',
            verified_name: 'Lucky Shrub',
            registered: true,
            quality_rating: 'GREEN',
            messaging_limit_tier: 'TIER_1K',
            qr_codes: [
              { code: qrCodes.main, prefilled_message: 'Hi!' },
              { code: qrCodes.spare, prefilled_message: 'What is in the spring sale?' },
            ],
            groups: [{ id: ids.group, subject: 'Regulars', description: '', join_approval_mode: 'auto_approve' }],
          },
          { id: numbers.fresh, display_phone_number: '+1 631-555-1003', verified_name: 'Fresh Shrub' },
        ],
        bots: [
          {
            id: ids.bot,
            prompts: ['Book a visit'],
            commands: [{ command_name: 'hours', command_description: 'When we are open' }],
            enable_welcome_message: true,
          },
        ],
        schedules: [{ id: ids.schedule, name: 'Hours', schedule_type: 'BUSINESS_HOURS', status: 'ACTIVE' }],
        migration_intents: [{ id: ids.migration_intent, status: 'INITIATED' }],
        templates: [
          {
            id: ids.template,
            name: 'hello_world',
            language: 'en_US',
            category: 'UTILITY',
            components: [{ type: 'BODY', text: 'Welcome to Lucky Shrub.' }],
          },
          {
            id: templates.order,
            name: 'order_update',
            language: 'en_US',
            category: 'UTILITY',
            components: [
              {
                type: 'BODY',
                text: 'Hello {{1}}, your order {{2}} is ready to be picked up.',
                example: { body_text: [['Ada', 'A7']] },
              },
            ],
          },
          {
            id: templates.closing,
            name: 'closing_sale',
            language: 'en_US',
            category: 'MARKETING',
            components: [{ type: 'BODY', text: 'Everything must go.' }],
          },
        ],
      },
      {
        id: accounts.shared,
        business_id: ids.business,
        name: 'Lucky Shrub Wholesale',
        account_review_status: 'APPROVED',
        primary_business_location: 'US',
        shared_with: [partnerIds.business],
        phone_numbers: [{ id: numbers.shared, display_phone_number: '+1 631-555-1002', registered: true }],
      },
      {
        id: accounts.onBehalf,
        business_id: ids.business,
        name: 'Lucky Shrub Events',
        account_review_status: 'APPROVED',
        on_behalf_of: partnerIds.business,
      },
      {
        id: accounts.smallBusiness,
        business_id: ids.business,
        name: 'Corner Shrub',
        small_business: true,
        phone_numbers: [{ id: numbers.smallBusiness, display_phone_number: '+1 631-555-1004', registered: true }],
      },
      {
        id: strangerIds.account,
        business_id: strangerIds.business,
        name: 'Stranger Account',
        phone_numbers: [
          {
            id: strangerIds.phone_number,
            account_number_id: strangerIds.account_number,
            display_phone_number: '+1 631-555-1009',
            registered: true,
            qr_codes: [{ code: qrCodes.stranger, prefilled_message: 'Hello, stranger' }],
            groups: [
              { id: strangerIds.group, subject: 'Strangers', description: '', join_approval_mode: 'auto_approve' },
            ],
          },
        ],
        bots: [{ id: strangerIds.bot, prompts: [], commands: [], enable_welcome_message: false }],
        schedules: [{ id: strangerIds.schedule, name: 'Hours', schedule_type: 'BUSINESS_HOURS', status: 'ACTIVE' }],
        migration_intents: [{ id: strangerIds.migration_intent, status: 'ACCEPTED' }],
        templates: [
          {
            id: strangerIds.template,
            name: 'hello_stranger',
            language: 'en_US',
            category: 'UTILITY',
            components: [{ type: 'BODY', text: 'Hello, stranger.' }],
          },
        ],
      },
    ],
    call_permissions: [
      { phone_number_id: numbers.main, user_wa_id: users.granting, status: 'granted' },
      { phone_number_id: numbers.main, user_wa_id: users.pending, status: 'pending' },
      { phone_number_id: numbers.main, user_wa_id: users.denying, status: 'denied' },
    ],
  }
}
