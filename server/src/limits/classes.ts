import { formatDuration, hour, minute, parseDuration, second } from '../base/time/duration.ts'
import {
  creationLimitReached,
  messageLimitReached,
  pairLimitReached,
  permissionCheckLimitReached,
  rateLimitReached,
} from './errors.ts'

/** A number of calls per period. */
export interface Rate {
  readonly count: number
  readonly milliseconds: number
}

/**
 * The key of a class: the calling app together with the account (or business) that it acts on, one number, the app, or one chat of
 * a number, which its chapter counts itself.
 */
export type RateKey = 'app_and_account' | 'node' | 'app' | 'chat'

type LimitError =
  | typeof rateLimitReached
  | typeof creationLimitReached
  | typeof permissionCheckLimitReached
  | typeof messageLimitReached
  | typeof pairLimitReached

export interface RateClass {
  readonly rates: readonly Rate[]
  readonly key: RateKey
  /** The 429. */
  readonly error: LimitError
  readonly sentence: string
}

/** Every class once; an operation names the classes that it is counted under besides `platform`. */
export const rateClasses = {
  platform: {
    rates: [{ count: 5000, milliseconds: hour }],
    key: 'app_and_account',
    error: rateLimitReached,
    sentence: 'Every call, per app and account.',
  },
  call_permissions: {
    rates: [{ count: 100, milliseconds: second }],
    key: 'node',
    error: permissionCheckLimitReached,
    sentence: 'Checks of call permissions, per number.',
  },
  messages: {
    rates: [{ count: 80, milliseconds: second }],
    key: 'node',
    error: messageLimitReached,
    sentence: 'Messages sent and marked as read, per number; they are not counted under platform.',
  },
  message_pair: {
    rates: [{ count: 45, milliseconds: 270 * second }],
    key: 'chat',
    error: pairLimitReached,
    sentence: 'Messages of a number to one user or group: a bucket of so many, refilled evenly in so long.',
  },
  request_code: {
    rates: [
      { count: 1, milliseconds: minute },
      { count: 10, milliseconds: 24 * hour },
    ],
    key: 'node',
    error: rateLimitReached,
    sentence: 'Requests for a verification code, per number.',
  },
  registration: {
    rates: [{ count: 10, milliseconds: 72 * hour }],
    key: 'node',
    error: rateLimitReached,
    sentence: 'Registering and deregistering, per number.',
  },
  key_upload: {
    rates: [{ count: 10, milliseconds: hour }],
    key: 'node',
    error: rateLimitReached,
    sentence: 'Uploads of a business public key, per number.',
  },
  number_creation: {
    rates: [{ count: 100, milliseconds: hour }],
    key: 'node',
    error: creationLimitReached,
    sentence: 'Phone numbers created, per account.',
  },
  schedule_creation: {
    rates: [{ count: 500, milliseconds: hour }],
    key: 'node',
    error: creationLimitReached,
    sentence: 'Schedules created, per account.',
  },
  template_creation: {
    rates: [{ count: 100, milliseconds: hour }],
    key: 'node',
    error: creationLimitReached,
    sentence: 'Message templates created, per account.',
  },
  solution_creation: {
    rates: [{ count: 50, milliseconds: hour }],
    key: 'app',
    error: creationLimitReached,
    sentence: 'Solutions created, per app.',
  },
  onboarding: {
    rates: [{ count: 50, milliseconds: hour }],
    key: 'app',
    error: rateLimitReached,
    sentence: 'Partner onboarding requests, per app.',
  },
} as const satisfies Record<string, RateClass>

export type RateClassName = keyof typeof rateClasses

/** Limits by address, before the caller is known; each process counts for itself. */
export interface AddressClass {
  readonly rates: readonly Rate[]
  /** For callers that are mostly developers or tests. */
  readonly ratesOutsideProduction: readonly Rate[]
  readonly error: LimitError
  readonly sentence: string
}

export const addressClasses = {
  failures: {
    rates: [{ count: 100, milliseconds: minute }],
    ratesOutsideProduction: [{ count: 1000, milliseconds: minute }],
    error: rateLimitReached,
    sentence:
      'Wrong tokens, secrets of apps and their proofs, signatures and verify tokens, per address; a body that was read in vain counts once more for every 64 KiB.',
  },
  open_doors: {
    rates: [{ count: 600, milliseconds: minute }],
    ratesOutsideProduction: [{ count: 6000, milliseconds: minute }],
    error: rateLimitReached,
    sentence: 'Requests for pages, pictures and documents that need no token, per address.',
  },
  strangers: {
    rates: [{ count: 600, milliseconds: minute }],
    ratesOutsideProduction: [{ count: 6000, milliseconds: minute }],
    error: rateLimitReached,
    sentence: 'Requests without a token and for paths that do not exist, per address.',
  },
} as const satisfies Record<string, AddressClass>

export type AddressClassName = keyof typeof addressClasses

/** Parses `100/1s`. */
export function parseRate(text: string): Rate | undefined {
  const [count, period, ...rest] = text.split('/')
  const milliseconds = parseDuration(period ?? '')
  if (rest.length > 0 || !/^[1-9]\d{0,9}$/.test(count ?? '') || !milliseconds) return undefined
  return { count: Number(count), milliseconds }
}

/** Names the limit that is reached by the sentence of its class: `Every call, per app and account.` → `every call, per app and account` */
export function describeLimit({ count, milliseconds }: Rate, sentence: string) {
  const counted = sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '')
  return { count, period: formatDuration(milliseconds), counted }
}

export function formatRate({ count, milliseconds }: Rate): string {
  return `${count}/${formatDuration(milliseconds)}`
}
