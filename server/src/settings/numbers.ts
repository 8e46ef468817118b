import { duration, integer, postUrl } from '../base/setting-parsers.ts'
import { minute } from '../base/time/duration.ts'
import type { Rate } from '../limits/classes.ts'
import { define, rate } from './setting.ts'

/** Phone numbers, their verification, and the users and groups that they reach. */
export const numbersSettings = {
  maxNumbersPerAccount: define({
    name: 'MAX_NUMBERS_PER_ACCOUNT',
    group: 'platform',
    shownDefault: '2000',
    sentence: 'How many phone numbers can be created in an account.',
    parse: integer(1, 10_000_000),
    fallback: () => 2000,
  }),
  carrierUrl: define<string | undefined>({
    name: 'CARRIER_URL',
    group: 'platform',
    shownDefault: 'unset: the built-in carrier',
    sentence: 'The URL to POST verification codes to, for sending.',
    parse: postUrl,
    fallback: () => undefined,
  }),
  verificationCodeDigits: define({
    name: 'VERIFICATION_CODE_DIGITS',
    group: 'platform',
    shownDefault: '6',
    sentence: 'How many digits a verification code has.',
    parse: integer(4, 10),
    fallback: () => 6,
  }),
  verificationCodeLifetime: define({
    name: 'VERIFICATION_CODE_LIFETIME',
    group: 'platform',
    shownDefault: '10m',
    sentence: 'How long a verification code is valid.',
    parse: duration,
    fallback: () => 10 * minute,
  }),
  wrongCodeLimit: define<Rate>({
    name: 'RATE_LIMIT_VERIFY_CODE',
    group: 'limits',
    shownDefault: '5/15m',
    sentence:
      'Wrong verification codes, per number: after so many within the period, no code is accepted for the same period. Stored with the code, so it survives a restart.',
    parse: rate,
    fallback: () => ({ count: 5, milliseconds: 15 * minute }),
  }),
  maxUsersPerGroup: define({
    name: 'MAX_USERS_PER_GROUP',
    group: 'platform',
    shownDefault: '8',
    sentence: 'How many users can be in a group.',
    parse: integer(1, 1024),
    fallback: () => 8,
  }),
  maxBlockedUsers: define({
    name: 'MAX_BLOCKED_USERS',
    group: 'platform',
    shownDefault: '64000',
    sentence: 'How many users a number can block.',
    parse: integer(1, 10_000_000),
    fallback: () => 64_000,
  }),
}
