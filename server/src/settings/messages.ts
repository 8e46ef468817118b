import { duration, durationOrNone, durationOrZero, oneOf } from '../base/setting-parsers.ts'
import { day, minute, second } from '../base/time/duration.ts'
import { define } from './setting.ts'

/** Messages, the phones of users, and how long both are kept. */
export const messagesSettings = {
  serviceWindow: define({
    name: 'SERVICE_WINDOW',
    group: 'platform',
    shownDefault: '24h',
    sentence: 'How long after a message or call of a user a number may write to the user without a template.',
    parse: duration,
    fallback: () => day,
  }),
  messageTtl: define({
    name: 'MESSAGE_TTL',
    group: 'platform',
    shownDefault: '30d',
    sentence: 'How long a message waits to be delivered before it is dropped, where its template says nothing else.',
    parse: duration,
    fallback: () => 30 * day,
  }),
  messageKeep: define({
    name: 'MESSAGE_KEEP',
    group: 'platform',
    shownDefault: '30d',
    sentence:
      'How long ids, kinds, times and states of messages are kept, ended calls, and chats without messages; a message that is still under way is kept until it ends.',
    parse: duration,
    fallback: () => 30 * day,
  }),
  messageBodyKeep: define({
    name: 'MESSAGE_BODY_KEEP',
    group: 'platform',
    shownDefault: '30d',
    sentence:
      'How long texts, files and other contents of messages are kept, also in the webhook log; 0 removes them within a minute after a message was delivered, failed or dropped.',
    parse: durationOrZero,
    fallback: () => 30 * day,
  }),
  streamKeep: define({
    name: 'STREAM_KEEP',
    group: 'platform',
    shownDefault: '24h',
    sentence: 'How long after an event GET /gateway/stream can resume there, by Last-Event-ID.',
    parse: duration,
    fallback: () => day,
  }),
  usersPresence: define<'online' | 'offline'>({
    name: 'USERS_PRESENCE',
    group: 'platform',
    shownDefault: 'online; offline in production',
    sentence: 'The presence of users for whom the gateway has set none: online or offline.',
    parse: oneOf(['online', 'offline'] as const),
    fallback: (_, environment) => (environment['NODE_ENV'] === 'production' ? 'offline' : 'online'),
  }),
  phoneDeliveryDelay: define({
    name: 'PHONE_DELIVERY_DELAY',
    group: 'platform',
    shownDefault: '0s',
    sentence: 'How long after a message was sent a phone that is online reports it as delivered.',
    parse: durationOrNone,
    fallback: () => 0,
  }),
  phoneReadDelay: define({
    name: 'PHONE_READ_DELAY',
    group: 'platform',
    shownDefault: '1s',
    sentence: 'How long after its delivery a message is read by a user whose auto_read is on.',
    parse: durationOrNone,
    fallback: () => second,
  }),
  typingTime: define({
    name: 'TYPING_TIME',
    group: 'platform',
    shownDefault: '25s',
    sentence: 'How long a typing indicator is shown unless a message ends it.',
    parse: duration,
    fallback: () => 25 * second,
  }),
  linkFetchTimeout: define({
    name: 'LINK_FETCH_TIMEOUT',
    group: 'platform',
    shownDefault: '30s',
    sentence: 'How long fetching the media file behind a link of a message may take, redirects included.',
    parse: duration,
    fallback: () => 30 * second,
  }),
  linkFetchCache: define({
    name: 'LINK_FETCH_CACHE',
    group: 'platform',
    shownDefault: '10m',
    sentence:
      'How long a media file that was fetched from a link is used again for the same link of the same number; 0s: never.',
    parse: durationOrNone,
    fallback: () => 10 * minute,
  }),
}
