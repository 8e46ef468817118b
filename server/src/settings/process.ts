import { type LogFormat, type LogLevel, logFormats, logLevels } from '../base/log/log.ts'
import { durationUpTo, iceServerList, integer, oneOf } from '../base/setting-parsers.ts'
import type { IceServer } from '../base/text/ice-servers.ts'
import { minute, second } from '../base/time/duration.ts'
import { type Role, roles } from './config.ts'
import { define } from './setting.ts'

/** What a process does, where it listens and what it logs. */
export const processSettings = {
  port: define({
    name: 'PORT',
    group: 'process',
    shownDefault: '8080',
    sentence: 'The port to listen on; 0 takes a free one.',
    parse: integer(0, 65535),
    fallback: () => 8080,
  }),
  host: define({
    name: 'HOST',
    group: 'process',
    shownDefault: '127.0.0.1',
    sentence: 'The address to listen on.',
    parse: (text) => text,
    fallback: () => '127.0.0.1',
  }),
  role: define<Role>({
    name: 'ROLE',
    group: 'process',
    shownDefault: 'all',
    sentence:
      'What the process does: api serves requests, worker delivers webhooks and runs timers (and serves only /healthz, /readyz and /metrics), all does both. On SQLite only all.',
    parse: oneOf(roles),
    fallback: () => 'all',
  }),
  iceServers: define<readonly IceServer[]>({
    name: 'ICE_SERVERS',
    group: 'process',
    shownDefault: 'none',
    sentence:
      'For agent, simulate call and serve --role media: the servers of STUN and TURN that they ask for further addresses, with commas, such as stun:stun.example.com:3478,turn:user:password@turn.example.com:3478.',
    parse: iceServerList,
    fallback: () => [],
  }),
  world: define<string | undefined>({
    name: 'WORLD',
    group: 'process',
    shownDefault: 'worlds/demo.yaml when the store is empty and NODE_ENV is not production',
    sentence: 'The world file to apply at the start.',
    parse: (text) => text,
    fallback: () => undefined,
  }),
  requestLog: define({
    name: 'REQUEST_LOG',
    group: 'process',
    shownDefault: '1000',
    sentence: 'How many of the last requests at each door a process keeps for operators; 0 keeps none.',
    parse: integer(0, 100_000),
    fallback: () => 1000,
  }),
  maxStreams: define({
    name: 'MAX_STREAMS',
    group: 'process',
    shownDefault: '1000',
    sentence:
      'How many streams (GET /gateway/stream, and as many of GET /operator/stream) can be open in one process; more are refused with 429.',
    parse: integer(1, 1_000_000),
    fallback: () => 1000,
  }),
  stopGrace: define({
    name: 'STOP_GRACE',
    group: 'process',
    shownDefault: '10s',
    sentence:
      'How long requests, and then deliveries, may take to finish when the server stops; the process ends at the latest twice this and 5 s after the signal.',
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  logLevel: define<LogLevel>({
    name: 'LOG_LEVEL',
    group: 'process',
    shownDefault: 'info',
    sentence: `How much is logged: ${logLevels.join(', ')}.`,
    parse: oneOf(logLevels),
    fallback: () => 'info',
  }),
  logFormat: define<LogFormat>({
    name: 'LOG_FORMAT',
    group: 'process',
    shownDefault: 'auto',
    sentence:
      'The format of the log on standard error: json is one object per line, pretty is for people (NO_COLOR removes colours), auto is pretty on a terminal and json elsewhere.',
    parse: oneOf(logFormats),
    fallback: () => 'auto',
  }),
}
