import { duration, durationList, durationUpTo, integer } from '../base/setting-parsers.ts'
import { day, hour, minute, second } from '../base/time/duration.ts'
import { define } from './setting.ts'

/** Webhooks: attempts, retries and what is kept of them. */
export const webhooksSettings = {
  webhookTimeout: define({
    name: 'WEBHOOK_TIMEOUT',
    group: 'platform',
    shownDefault: '10s',
    sentence: 'How long a callback may take to respond, from the first attempt to connect to the end of the response.',
    // A timer of the runtime beyond some weeks would fire at once; nobody waits for minutes either.
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  webhookRetryDelays: define<readonly number[]>({
    name: 'WEBHOOK_RETRY_DELAYS',
    group: 'platform',
    shownDefault: '5s,30s,2m,10m,30m,1h,3h,6h,12h,24h',
    sentence: 'How long to wait before each retry of a failed delivery; the last value repeats.',
    parse: durationList,
    fallback: () => [
      5 * second,
      30 * second,
      2 * minute,
      10 * minute,
      30 * minute,
      hour,
      3 * hour,
      6 * hour,
      12 * hour,
      24 * hour,
    ],
  }),
  webhookGiveUpAfter: define({
    name: 'WEBHOOK_GIVE_UP_AFTER',
    group: 'platform',
    shownDefault: '7d',
    sentence: 'How long after an event its delivery is retried before it fails.',
    parse: duration,
    fallback: () => 7 * day,
  }),
  webhookKeep: define({
    name: 'WEBHOOK_KEEP',
    group: 'platform',
    shownDefault: '30d',
    sentence: 'How long events, deliveries and their attempts are kept, and how long duplicate messages are detected.',
    parse: duration,
    fallback: () => 30 * day,
  }),
  webhookLease: define({
    name: 'WEBHOOK_LEASE',
    group: 'platform',
    shownDefault: '10s',
    sentence:
      'How long the deliveries, timers and links of a dead process wait before another process takes them over; the same for every process.',
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  webhookConcurrency: define({
    name: 'WEBHOOK_CONCURRENCY',
    group: 'platform',
    shownDefault: '32',
    sentence:
      'How many posts to one callback may be under way at once, each of another conversation; it begins with 4, grows while posts succeed and halves when they fail.',
    parse: integer(1, 128),
    fallback: () => 32,
  }),
  webhookBatch: define({
    name: 'WEBHOOK_BATCH',
    group: 'platform',
    shownDefault: '1',
    sentence: 'How many changes of one account may share a post.',
    parse: integer(1, 100),
    fallback: () => 1,
  }),
  replayAtOnce: define({
    name: 'REPLAY_AT_ONCE',
    group: 'platform',
    shownDefault: '1000',
    sentence: 'How many deliveries a replay by filter sends again at once; when more match, it becomes a job.',
    parse: integer(0, 1000),
    fallback: () => 1000,
  }),
}
