import { duration, durationOrForever, flag, oneOf, onOff, versionList, webUrl } from '../base/setting-parsers.ts'
import { day } from '../base/time/duration.ts'
import { type ServedVersions, serveVersions } from '../graph/versions.ts'
import { chooseVocabulary, type VocabularyName, vocabularyNames } from '../graph/vocabulary.ts'
import { define, defineMaxBytes, mebibyte } from './setting.ts'

/** The API as a whole: its names, versions and address, and what a test environment allows. */
export const apiSettings = {
  publicUrl: define<string | undefined>({
    name: 'PUBLIC_URL',
    group: 'platform',
    shownDefault: 'http://HOST:PORT',
    sentence: 'The base URL as clients see it, used in every link in a response.',
    parse: webUrl,
    fallback: () => undefined,
  }),
  vocabulary: define<VocabularyName>({
    name: 'VOCABULARY',
    group: 'platform',
    shownDefault: 'msgapp',
    sentence: 'The names on the wire: msgapp as in the specification, or whatsapp for existing client libraries.',
    parse: oneOf(vocabularyNames),
    fallback: () => 'msgapp',
  }),
  versions: define<ServedVersions>({
    name: 'VERSIONS',
    group: 'platform',
    shownDefault: 'v23.0; with VOCABULARY=whatsapp every one from v13.0 to v30.0',
    sentence: 'The API versions that are served, oldest first, separated by commas.',
    parse: (text) => serveVersions(versionList(text), false),
    fallback: ({ vocabulary = 'msgapp' }) =>
      serveVersions(undefined, chooseVocabulary(vocabulary).habits.every_version),
  }),
  sandbox: define({
    name: 'SANDBOX',
    group: 'platform',
    shownDefault: 'on unless NODE_ENV=production',
    sentence:
      'Whether this is a test environment: operators can move the clock, cause faults and reset the store, and see the headers and bodies of requests.',
    parse: onOff,
    fallback: (_, environment) => environment['NODE_ENV'] !== 'production',
  }),
  allowInternalCallbacks: define({
    name: 'ALLOW_INTERNAL_CALLBACKS',
    group: 'platform',
    shownDefault: 'true unless NODE_ENV=production',
    sentence: 'Whether callback URLs may be plain http or point at loopback, private or link-local addresses.',
    parse: flag,
    fallback: (_, environment) => environment['NODE_ENV'] !== 'production',
  }),
  allowDemoTokens: define({
    name: 'ALLOW_DEMO_TOKENS',
    group: 'platform',
    shownDefault: 'false',
    sentence:
      'Whether the tokens and app secrets of the demo world, which everybody knows, are accepted from other machines too; in a sandbox, anybody can then be anybody in the dialog of the sign-up from there.',
    parse: flag,
    fallback: () => false,
  }),
  idempotencyKeep: define({
    name: 'IDEMPOTENCY_KEEP',
    group: 'platform',
    shownDefault: '24h',
    sentence: 'How long a repeated Idempotency-Key returns the first response.',
    parse: duration,
    fallback: () => day,
  }),
  auditKeep: define<number | undefined>({
    name: 'AUDIT_KEEP',
    group: 'platform',
    shownDefault: '400d',
    sentence:
      'How long audit records are kept, and the expired tokens that they name: a duration such as 400d, or forever.',
    parse: durationOrForever,
    fallback: () => 400 * day,
  }),
  maxWorldBytes: defineMaxBytes(
    'MAX_WORLD_BYTES',
    'The largest world file that operators can send in bytes.',
    8 * mebibyte,
  ),
  rateLimitsOn: define({
    name: 'RATE_LIMITS',
    group: 'limits',
    shownDefault: 'on',
    sentence: 'off turns all rate limits off.',
    parse: onOff,
    fallback: () => true,
  }),
}
