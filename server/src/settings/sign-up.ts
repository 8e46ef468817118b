import { duration } from '../base/setting-parsers.ts'
import { day, minute } from '../base/time/duration.ts'
import { define } from './setting.ts'

/** How businesses connect themselves to apps. */
export const signUpSettings = {
  signUpCodeLifetime: define({
    name: 'SIGN_UP_CODE_LIFETIME',
    group: 'platform',
    shownDefault: '10m',
    sentence: 'How long an app may exchange the code that the sign-up of a business gave it.',
    parse: duration,
    fallback: () => 10 * minute,
  }),
  exchangedTokenLifetime: define({
    name: 'EXCHANGED_TOKEN_LIFETIME',
    group: 'platform',
    shownDefault: '60d',
    sentence: 'How long a token lives that an app got by exchanging another one with `fb_exchange_token`.',
    parse: duration,
    fallback: () => 60 * day,
  }),
}
