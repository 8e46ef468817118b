import { addressList, durationUpTo, hostList, integer } from '../base/setting-parsers.ts'
import { AddressList } from '../base/text/addresses.ts'
import { hour, minute, second } from '../base/time/duration.ts'
import { define, mebibyte } from './setting.ts'

/** How requests arrive: proxies, bodies, connections and their times. */
export const requestsSettings = {
  trustProxy: define<AddressList>({
    name: 'TRUST_PROXY',
    group: 'process',
    shownDefault: 'unset: none',
    sentence:
      'Addresses and networks of the proxies in front, separated by commas: their X-Forwarded-For gives the client address of a request.',
    parse: addressList,
    fallback: () => new AddressList([]),
  }),
  allowedHosts: define<readonly string[]>({
    name: 'ALLOWED_HOSTS',
    group: 'process',
    shownDefault: 'unset',
    sentence:
      'Allowed host names of this server besides that of PUBLIC_URL, separated by commas; in production every name is allowed while this is unset.',
    parse: hostList,
    fallback: () => [],
  }),
  maxBodyBytes: define({
    name: 'MAX_BODY_BYTES',
    group: 'platform',
    shownDefault: '1048576',
    sentence: 'The largest JSON or form body in bytes.',
    parse: integer(1024, 1 << 30),
    fallback: () => 1_048_576,
  }),
  webhookMaxBodyBytes: define({
    name: 'WEBHOOK_MAX_BODY_BYTES',
    group: 'platform',
    shownDefault: '3145728',
    sentence: 'The largest post of inbound events, in bytes.',
    parse: integer(1024, 1 << 30),
    fallback: () => 3_145_728,
  }),
  maxBodyBytesPerToken: define({
    name: 'MAX_BODY_BYTES_PER_TOKEN',
    group: 'process',
    shownDefault: '67108864, or twice MAX_BODY_BYTES or WEBHOOK_MAX_BODY_BYTES if that is more',
    sentence: 'How many bytes of bodies a process holds for one token while they arrive; beyond that 429.',
    parse: integer(1024, 2 ** 32),
    fallback: ({ maxBodyBytes = 0, webhookMaxBodyBytes = 0 }) =>
      Math.max(64 * mebibyte, 2 * maxBodyBytes, 2 * webhookMaxBodyBytes),
  }),
  maxUnauthenticatedBytesPerAddress: define({
    name: 'MAX_UNPROVEN_BYTES_PER_ADDRESS',
    group: 'process',
    shownDefault: '8388608, or twice WEBHOOK_MAX_BODY_BYTES if that is more',
    sentence:
      'How many bytes of signed posts a process holds for one address while their signatures are being checked; four times as many for all addresses.',
    parse: integer(1024, 1 << 30),
    fallback: ({ webhookMaxBodyBytes = 0 }) => Math.max(8 * mebibyte, 2 * webhookMaxBodyBytes),
  }),
  unauthenticatedBodyTimeout: define({
    name: 'UNPROVEN_BODY_TIMEOUT',
    group: 'process',
    shownDefault: '10s',
    sentence: 'How long the body of an unauthenticated caller may take to arrive.',
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  maxConnectionsPerAddress: define({
    name: 'MAX_CONNECTIONS_PER_ADDRESS',
    group: 'process',
    shownDefault: '1000 in production, otherwise 10000',
    sentence: 'How many connections one address may have open to a process; those of TRUST_PROXY are not counted.',
    parse: integer(1, 1_000_000),
    fallback: (_, environment) => (environment['NODE_ENV'] === 'production' ? 1000 : 10_000),
  }),
  headersTimeout: define({
    name: 'HEADERS_TIMEOUT',
    group: 'process',
    shownDefault: '20s',
    sentence: 'How long the headers of a request may take to arrive.',
    parse: durationUpTo(10 * minute),
    fallback: () => 20 * second,
  }),
  requestTimeout: define({
    name: 'REQUEST_TIMEOUT',
    group: 'process',
    shownDefault: '15m',
    sentence: 'How long a request with its body may take to arrive: 100 MiB over a line of 1 Mbit/s by default.',
    parse: durationUpTo(hour),
    fallback: () => 15 * minute,
  }),
  idleTimeout: define({
    name: 'IDLE_TIMEOUT',
    group: 'process',
    shownDefault: '2m',
    sentence: 'How long a connection may be idle while a request, its body or its response is under way.',
    parse: durationUpTo(10 * minute),
    fallback: () => 2 * minute,
  }),
}
