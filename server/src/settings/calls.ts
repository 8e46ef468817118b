import { duration, durationOrOff, integer, onOff } from '../base/setting-parsers.ts'
import { day, minute } from '../base/time/duration.ts'
import { define } from './setting.ts'

/** Calls, and permission to call. */
export const callsSettings = {
  callRingTime: define({
    name: 'CALL_RING_TIME',
    group: 'platform',
    shownDefault: '60s',
    sentence: 'How long an unanswered call rings before it ends.',
    parse: duration,
    fallback: () => minute,
  }),
  callPermissionLifetime: define({
    name: 'CALL_PERMISSION_LIFETIME',
    group: 'platform',
    shownDefault: '7d',
    sentence: 'How long a permission to call lasts if the gateway gives no time.',
    parse: duration,
    fallback: () => 7 * day,
  }),
  callPermissionRequestLifetime: define({
    name: 'CALL_PERMISSION_REQUEST_LIFETIME',
    group: 'platform',
    shownDefault: '7d',
    sentence: 'How long a request for permission to call waits for the decision of the user before it expires.',
    parse: duration,
    fallback: () => 7 * day,
  }),
  maxCallsPerDay: define({
    name: 'MAX_CALLS_PER_DAY',
    group: 'platform',
    shownDefault: '100',
    sentence: 'How many calls a number can start to one user in 24 hours.',
    parse: integer(1, 1_000_000),
    fallback: () => 100,
  }),
  maxCallPermissionRequestsPerDay: define({
    name: 'MAX_CALL_PERMISSION_REQUESTS_PER_DAY',
    group: 'platform',
    shownDefault: '1',
    sentence: 'How often a number can ask one user for permission to call in 24 hours.',
    parse: integer(1, 1_000_000),
    fallback: () => 1,
  }),
  maxCallPermissionRequestsPerWeek: define({
    name: 'MAX_CALL_PERMISSION_REQUESTS_PER_WEEK',
    group: 'platform',
    shownDefault: '2',
    sentence: 'How often a number can ask one user for permission to call in 7 days.',
    parse: integer(1, 1_000_000),
    fallback: () => 2,
  }),
  sdpStrict: define({
    name: 'SDP_STRICT',
    group: 'platform',
    shownDefault: 'off',
    sentence: 'on refuses session descriptions of calls that have a finding of the level error.',
    parse: onOff,
    fallback: () => false,
  }),
  callMediaTimeout: define<number | undefined>({
    name: 'CALL_MEDIA_TIMEOUT',
    group: 'platform',
    shownDefault: 'off',
    sentence:
      "After how long without sound users' phones end an accepted call, such as 20s, as on the public platform; phones read it with the call. off: never.",
    parse: durationOrOff,
    fallback: () => undefined,
  }),
}
