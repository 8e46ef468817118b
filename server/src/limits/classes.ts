import { formatDuration, hour, minute, parseDuration, second } from '../base/duration.ts'

/** So many in so long. */
export interface Rate {
  readonly count: number
  readonly milliseconds: number
}

/** What a class counts by: the calling app together with the account (or business) that it acts on, one number, or the app. */
export type RateKey = 'app_and_account' | 'node' | 'app'

export interface RateClass {
  readonly rates: readonly Rate[]
  readonly key: RateKey
  /** The subcode of the 429. */
  readonly subcode: number
  readonly sentence: string
}

const generalSubcode = 2446079
const creationSubcode = 2446080
const callPermissionSubcode = 2390008

/** Every class once; a row of the table of operations names the ones that it is counted under besides `platform`. */
export const rateClasses = {
  platform: {
    rates: [{ count: 5000, milliseconds: hour }],
    key: 'app_and_account',
    subcode: generalSubcode,
    sentence: 'Every call, per app and account.',
  },
  call_permissions: {
    rates: [{ count: 100, milliseconds: second }],
    key: 'node',
    subcode: callPermissionSubcode,
    sentence: 'Checks of call permissions, per number.',
  },
  request_code: {
    rates: [
      { count: 1, milliseconds: minute },
      { count: 10, milliseconds: 24 * hour },
    ],
    key: 'node',
    subcode: generalSubcode,
    sentence: 'Requests for a verification code, per number.',
  },
  registration: {
    rates: [{ count: 10, milliseconds: 72 * hour }],
    key: 'node',
    subcode: generalSubcode,
    sentence: 'Registering and deregistering, per number.',
  },
  key_upload: {
    rates: [{ count: 10, milliseconds: hour }],
    key: 'node',
    subcode: generalSubcode,
    sentence: 'Uploads of a business public key, per number.',
  },
  number_creation: {
    rates: [{ count: 100, milliseconds: hour }],
    key: 'node',
    subcode: creationSubcode,
    sentence: 'Phone numbers created, per account.',
  },
  schedule_creation: {
    rates: [{ count: 500, milliseconds: hour }],
    key: 'node',
    subcode: creationSubcode,
    sentence: 'Schedules created, per account.',
  },
  solution_creation: {
    rates: [{ count: 50, milliseconds: hour }],
    key: 'app',
    subcode: creationSubcode,
    sentence: 'Solutions created, per app.',
  },
  onboarding: {
    rates: [{ count: 50, milliseconds: hour }],
    key: 'app',
    subcode: generalSubcode,
    sentence: 'Partner onboarding requests, per app.',
  },
} as const satisfies Record<string, RateClass>

export type RateClassName = keyof typeof rateClasses

/** What is counted by address, before anybody is known; each process counts for itself. */
export interface AddressClass {
  readonly rates: readonly Rate[]
  /** Where the caller is mostly a developer or a test. */
  readonly ratesOutsideProduction: readonly Rate[]
  readonly subcode: number
  readonly sentence: string
}

export const addressClasses = {
  failures: {
    rates: [{ count: 100, milliseconds: minute }],
    ratesOutsideProduction: [{ count: 1000, milliseconds: minute }],
    subcode: generalSubcode,
    sentence:
      'Wrong tokens, signatures and verify tokens, per address; a body that was read in vain counts once more for every 64 KiB.',
  },
  open_doors: {
    rates: [{ count: 600, milliseconds: minute }],
    ratesOutsideProduction: [{ count: 6000, milliseconds: minute }],
    subcode: generalSubcode,
    sentence: 'Requests for pages, pictures and documents that need no token, per address.',
  },
} as const satisfies Record<string, AddressClass>

export type AddressClassName = keyof typeof addressClasses

/** Reads `100/1s`. */
export function parseRate(text: string): Rate | undefined {
  const [count, period, ...rest] = text.split('/')
  const milliseconds = parseDuration(period ?? '')
  if (rest.length > 0 || !/^[1-9]\d{0,9}$/.test(count ?? '') || !milliseconds) return undefined
  return { count: Number(count), milliseconds }
}

export function formatRate({ count, milliseconds }: Rate): string {
  return `${count}/${formatDuration(milliseconds)}`
}
