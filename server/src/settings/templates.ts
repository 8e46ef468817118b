import { duration, integer, oneOf } from '../base/setting-parsers.ts'
import { day } from '../base/time/duration.ts'
import type { Rate } from '../limits/classes.ts'
import { define, rates } from './setting.ts'

/** Message templates. */
export const templatesSettings = {
  templateReview: define<'auto' | 'manual'>({
    name: 'TEMPLATE_REVIEW',
    group: 'platform',
    shownDefault: 'auto',
    sentence:
      'auto approves message templates at once; manual waits for ./switchboard templates approve, or for the gateway.',
    parse: oneOf(['auto', 'manual']),
    fallback: () => 'auto',
  }),
  maxTemplates: define({
    name: 'MAX_TEMPLATES',
    group: 'platform',
    shownDefault: '250',
    sentence: 'How many names of message templates an account can have.',
    parse: integer(1, 1_000_000),
    fallback: () => 250,
  }),
  maxTemplatesVerified: define({
    name: 'MAX_TEMPLATES_VERIFIED',
    group: 'platform',
    shownDefault: '6000',
    sentence:
      'How many names of message templates an account can have if its business_verification_status is VERIFIED.',
    parse: integer(1, 1_000_000),
    fallback: () => 6000,
  }),
  maxTemplateEdits: define<readonly Rate[]>({
    name: 'MAX_TEMPLATE_EDITS',
    group: 'platform',
    shownDefault: '1/1d,10/30d',
    sentence: 'How often an approved message template can be edited; RATE_LIMITS=off does not change this.',
    parse: rates,
    fallback: () => [
      { count: 1, milliseconds: day },
      { count: 10, milliseconds: 30 * day },
    ],
  }),
  templateNameRest: define({
    name: 'TEMPLATE_NAME_REST',
    group: 'platform',
    shownDefault: '30d',
    sentence: 'How long the name of an approved message template that was deleted cannot be used again.',
    parse: duration,
    fallback: () => 30 * day,
  }),
  maxMarketingPerUserPerDay: define({
    name: 'MAX_MARKETING_PER_USER_PER_DAY',
    group: 'platform',
    shownDefault: '0: no limit',
    sentence:
      'How many marketing templates of one number a user gets within 24 hours; more of them fail with code 131049.',
    parse: integer(0, 1_000_000),
    fallback: () => 0,
  }),
}
