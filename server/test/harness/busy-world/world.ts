import { makeCrowd, redirect_uri } from '../sign-up-pages.ts'
import { makeCustomers, makeStaff, type Person, people } from './people.ts'
import type { BusySize } from './sizes.ts'
import { makeTemplates } from './templates.ts'

/** Ids as in the demo world, where the same exists: tests that were written for it run on this one too. */
export const busyIds = {
  business: '2000000000000001',
  partner: '2000000000000002',
  account: '1000000000000001',
  emptyAccount: '1000000000000003',
  number: '4000000000000001',
  group: '6000000000000001',
} as const

export const busyTokens = {
  business: 'demo-token',
  gateway: 'demo-gateway-token',
  operator: 'demo-operator-token',
} as const

/** The apps that are told of everything in the first account. */
export const busyApps = {
  /** Takes every webhook. */
  good: { id: '3000000000000001', name: 'Shrub CRM' },
  /** Took most of them, and now answers 503. */
  failing: {
    id: '3000000000000002',
    name: 'Customer engagement and loyalty points of the garden centers (north-west)',
  },
  /** Took all of them, and does not answer any more. */
  slow: { id: '3000000000000003', name: 'Warehouse sync' },
  /** A partner's, which lost its access. */
  partner: { id: '3000000000000004', name: 'Partner Suite' },
} as const

const fields = [
  'messages',
  'calls',
  'group_lifecycle_update',
  'group_participants_update',
  'message_template_status_update',
]

export type Callbacks = Readonly<Record<keyof typeof busyApps, string>>

/** The world file that the busy world begins with; traffic does the rest. */
export function makeBusyWorld(size: BusySize, callbacks: Callbacks, now: number): object {
  const customers = makeCustomers(size.customers)
  const crowd = makeCrowd(size.connections)
  return {
    businesses: [
      {
        id: busyIds.business,
        name: 'Lucky Shrub',
        timezone_id: 1,
        extended_credits: [{ id: '2100000000000001', legal_entity_name: 'Lucky Shrub LLC' }],
        users: makeStaff(size.connections),
      },
      { id: busyIds.partner, name: 'Green Partner', timezone_id: 137 },
      { id: '2000000000000003', name: 'شركة النباتات المحظوظة المحدودة' },
      { id: '2000000000000004', name: 'Botanical and horticultural wholesale trading company of the lowlands' },
      ...crowd.businesses,
    ],
    apps: [
      ...(Object.keys(busyApps) as (keyof Callbacks)[]).map((key) => describeApp(key, callbacks[key])),
      ...makeOtherApps(size.apps - 4),
    ],
    tokens: makeTokens(size, now),
    accounts: [makeFirstAccount(size, customers), ...makeOtherAccounts(size.numbers), ...crowd.accounts],
    call_permissions: [people.ada, people.arabic, people.long, ...customers.slice(0, 3)].map(({ wa_id }) => ({
      phone_number_id: busyIds.number,
      user_wa_id: wa_id,
      status: 'granted',
      expiration_time: 1_893_456_000,
    })),
    users: [...Object.values<Person>(people), ...customers],
  }
}

function describeApp(key: keyof Callbacks, callback_url: string): object {
  const business_id = key === 'partner' ? busyIds.partner : busyIds.business
  const webhook = { callback_url, verify_token: `${key}-verify-token`, fields }
  const isPartner = key === 'partner'
  return {
    ...busyApps[key],
    business_id,
    secret: key === 'good' ? 'shrub-app-secret' : `${key}-app-secret`,
    webhook,
    ...(key === 'good' && { first_party: true }),
    ...(isPartner && { partner_kind: 'SOLUTION_PROVIDER', redirect_uris: [redirect_uri] }),
  }
}

function makeOtherApps(count: number): object[] {
  return Array.from({ length: Math.max(count, 0) }, (_, index) => ({
    id: String(3_000_000_000_000_100 + index),
    business_id: ['2000000000000001', '2000000000000003', '2000000000000004'][index % 3],
    name: `${['Chat widget', 'Reports', 'تطبيق المبيعات', 'Help desk'][index % 4]} ${index + 1}`,
  }))
}

const tokenNames = [
  'Nightly export',
  'رمز المتجر',
  '<b>Chat widget</b>',
  'Help desk of the garden centers, second floor',
  'CI',
]

function makeTokens({ tokens }: BusySize, now: number): object[] {
  const app_id = busyApps.good.id
  const ofBusiness = ['msgapp_business_management', 'msgapp_business_messaging']
  const others = Array.from({ length: tokens }, (_, index) => ({
    token: `token-${index}-of-the-busy-world`,
    // Every fourth has none.
    ...(index % 4 !== 3 && { name: `${tokenNames[index % tokenNames.length]} ${index + 1}` }),
    app_id: Object.values(busyApps)[index % 3]?.id,
    scopes: index % 4 === 0 ? ofBusiness : ofBusiness.slice(index % 2, (index % 2) + 1),
    ...(index % 5 === 0 && { expires_at: new Date(now + (index - 40) * 3_600_000).toISOString() }),
    ...(index % 7 === 0 && { accounts: [busyIds.account] }),
  }))
  return [
    ...others,
    { token: busyTokens.business, app_id, scopes: ofBusiness },
    { token: busyTokens.gateway, app_id, scopes: ['gateway'] },
    { token: busyTokens.operator, app_id, scopes: ['operator'] },
  ]
}

function makeFirstAccount(size: BusySize, customers: readonly Person[]): object {
  return {
    id: busyIds.account,
    business_id: busyIds.business,
    name: 'Lucky Shrub Retail',
    timezone_id: '1',
    country: 'US',
    business_verification_status: 'VERIFIED',
    primary_business_location: 'US',
    // Nobody is told of the first days: webhooks begin when apps are linked.
    subscribed_apps: [],
    phone_numbers: [
      {
        id: busyIds.number,
        account_number_id: '4100000000000001',
        display_phone_number: '+1 631-555-1001',
        verified_name: 'Lucky Shrub',
        registered: true,
        quality_rating: 'GREEN',
        messaging_limit_tier: 'TIER_1K',
        is_official_business_account: true,
        username: 'lucky.shrub',
        profile: {
          about: 'Plants for every windowsill',
          address: '1 Garden Lane, Springfield',
          description: 'Succulents, shrubs and the pots to put them in.',
          email: 'hi@luckyshrub.example',
          websites: ['https://luckyshrub.example', 'https://shop.luckyshrub.example'],
          vertical: 'RETAIL',
        },
        qr_codes: [
          { code: 'ABCDEFGHIJKLMN', prefilled_message: 'Hi!' },
          { code: 'SPRINGSALE2026', prefilled_message: 'What is in the spring sale?' },
        ],
        groups: makeGroups(size.groups, customers),
        blocked_users: [people.blocked.wa_id],
      },
      ...makeNumbers(size.numbers - 3),
    ],
    bots: [
      {
        id: '5000000000000001',
        prompts: ['Book a visit', 'Find a shop'],
        commands: [{ command_name: 'hours', command_description: 'When we are open' }],
        enable_welcome_message: true,
      },
    ],
    schedules: [
      {
        id: '7000000000000001',
        name: 'Hours',
        schedule_type: 'BUSINESS_HOURS',
        status: 'ACTIVE',
        start_time: '09:00',
        end_time: '17:00',
        timezone: 'America/New_York',
        days_of_week: ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'],
      },
    ],
    migration_intents: [{ id: '8000000000000001', status: 'INITIATED' }],
    templates: makeTemplates(),
  }
}

function makeGroups(count: number, customers: readonly Person[]): object[] {
  const subjects = ['Regulars', 'محبو النباتات الداخلية', 'Bonsai circle', '<b>Orchids</b> & "ferns"', '🌵 Cacti']
  const others = customers.slice(0, 3)
  return Array.from({ length: count }, (_, index) => ({
    id: String(6_000_000_000_000_001 + index),
    subject:
      index < subjects.length
        ? subjects[index]
        : `Garden group ${index + 1} of the neighbourhood association of Springfield`,
    description: index % 2 === 0 ? 'For those who prune.' : '',
    join_approval_mode: index % 2 === 0 ? 'auto_approve' : 'approval_required',
    participants: [people.ada, people.arabic, people.long, people.script, ...others].map(({ wa_id, name }) => ({
      wa_id,
      ...(name !== undefined && { name }),
    })),
  }))
}

/** Further numbers of the first account: of every state. */
function makeNumbers(count: number): object[] {
  const names = [
    'Lucky Shrub Service',
    'الحديقة المحظوظة',
    'Lucky Shrub Sandbox',
    'Garden center of the northern and western suburbs of Springfield',
  ]
  return Array.from({ length: Math.max(count, 0) }, (_, index) => ({
    id: String(4_000_000_000_000_100 + index),
    display_phone_number: `+1 631-555-${String(2000 + index)}`,
    verified_name: `${names[index % names.length]} ${index + 1}`,
    registered: index % 6 !== 5,
    quality_rating: ['GREEN', 'YELLOW', 'RED'][index % 3],
    messaging_limit_tier: ['TIER_250', 'TIER_1K', 'TIER_10K'][index % 3],
    ...(index % 9 === 8 && { calling_enabled: false }),
  }))
}

function makeOtherAccounts(numbers: number): object[] {
  return [
    {
      id: '1000000000000002',
      business_id: '2000000000000003',
      name: 'شركة النباتات المحظوظة للبيع بالتجزئة',
      country: 'EG',
      phone_numbers: [
        {
          id: '4000000000000004',
          display_phone_number: '+20 2 2345 6789',
          verified_name: 'النباتات',
          registered: true,
        },
      ],
    },
    { id: busyIds.emptyAccount, business_id: busyIds.business, name: 'Lucky Shrub Events', country: 'FR' },
    ...(numbers > 3
      ? [
          {
            id: '1000000000000004',
            business_id: '2000000000000004',
            name: 'Wholesale account of the botanical and horticultural trading company',
            account_review_status: 'PENDING',
            small_business: true,
            phone_numbers: [
              {
                id: '4000000000000007',
                display_phone_number: '+31 20 794 0958',
                verified_name: 'Lowlands',
                registered: true,
              },
            ],
          },
        ]
      : []),
  ]
}
