import { join } from 'node:path'
import { type AllowedEntry, parseAllowed } from './auth/allowed-operators.ts'
import type { Environment } from './base/environment.ts'
import type { SecretKey } from './base/keys/secret-key.ts'
import { type LogFormat, type LogLevel, logFormats, logLevels } from './base/log/log.ts'
import {
  addressList,
  BadSetting,
  collectorUrl,
  duration,
  durationList,
  durationOrForever,
  durationOrNone,
  durationOrZero,
  durationUpTo,
  flag,
  hostList,
  integer,
  issuerUrl,
  oneOf,
  onOff,
  postgresUrl,
  postUrl,
  scopeList,
  secretKey,
  secretKeys,
  versionList,
  webUrl,
} from './base/setting-parsers.ts'
import { AddressList } from './base/text/addresses.ts'
import { day, hour, minute, second } from './base/time/duration.ts'
import type { CredentialSettings } from './files/s3/credentials/choose.ts'
import { type ObjectLocation, parseObjectLocation } from './files/s3/location.ts'
import type { Settings } from './graph/settings.ts'
import { type VocabularyName, vocabularyNames } from './graph/vocabulary.ts'
import { type AddressClassName, parseRate, type Rate, type RateClassName } from './limits/classes.ts'

/** One setting: its name, its default for people, one sentence, and its parser. */
export interface Setting<T> {
  readonly name: string
  readonly shownDefault: string
  readonly sentence: string
  /** Throws with what form is right. */
  readonly parse: (text: string) => T
  readonly fallback: (soFar: Partial<Config>, environment: Environment) => T
  /** Whether its value is never shown, not even when it is wrong. */
  readonly isSecret?: boolean
}

/** The role of a process: everything, only requests, or only background work. */
const roles = ['all', 'api', 'worker'] as const
export type Role = (typeof roles)[number]

/** What is between the service and PostgreSQL. */
const databasePoolers = ['none', 'transaction'] as const
export type DatabasePooler = (typeof databasePoolers)[number]

export interface Config extends Settings, CredentialSettings {
  readonly production: boolean
  readonly port: number
  readonly host: string
  /** Undefined until the server listens: then `http://HOST:PORT`. */
  readonly publicUrl: string | undefined
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly filesUrl: ObjectLocation | undefined
  readonly filesTimeout: number
  readonly databaseConnections: number
  readonly databasePooler: DatabasePooler
  readonly databaseTimeout: number
  readonly databaseLockTimeout: number
  readonly clockTolerance: number
  readonly clockJump: number
  readonly secretsKey: SecretKey | undefined
  readonly secretsKeyOld: readonly SecretKey[]
  readonly secretsKeyFile: string
  readonly world: string | undefined
  readonly role: Role
  readonly allowInternalCallbacks: boolean
  /** The proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy: AddressList
  readonly allowedHosts: readonly string[]
  readonly allowDemoTokens: boolean
  readonly consoleOn: boolean
  /** How long a session of the console lasts. */
  readonly consoleSession: number
  readonly oidcIssuer: string | undefined
  readonly oidcClientId: string | undefined
  readonly oidcClientSecret: string | undefined
  readonly oidcAllow: readonly AllowedEntry[]
  readonly oidcScopes: string
  readonly oidcGroupsClaim: string
  readonly vocabulary: VocabularyName
  readonly versions: readonly string[]
  readonly rates: Readonly<Record<AnyRateClassName, readonly Rate[]>>
  readonly maxBodyBytes: number
  readonly requestLog: number
  readonly otlpEndpoint: string | undefined
  readonly webhookTimeout: number
  readonly webhookRetryDelays: readonly number[]
  readonly webhookGiveUpAfter: number
  readonly webhookKeep: number
  readonly messageKeep: number
  /** 0: until a message is over. */
  readonly messageBodyKeep: number
  readonly streamKeep: number
  readonly maxStreams: number
  /** Bytes of the disk that files leave free. */
  readonly diskReserve: number | undefined
  readonly webhookLease: number
  readonly webhookConcurrency: number
  readonly webhookBatch: number
  readonly webhookMaxBodyBytes: number
  /** Undefined: for ever. */
  readonly auditKeep: number | undefined
  readonly maxBodyBytesPerToken: number
  readonly maxUnprovenBytes: number
  readonly maxUnprovenBytesPerAddress: number
  readonly unprovenBodyTimeout: number
  readonly maxConnectionsPerAddress: number
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly idleTimeout: number
  readonly stopGrace: number
  readonly logLevel: LogLevel
  readonly logFormat: LogFormat
}

/** A class of the table of rate limits: of callers or of addresses. */
export type AnyRateClassName = RateClassName | AddressClassName

function define<T>(setting: Setting<T>): Setting<T> {
  return setting
}

function rate(text: string): Rate {
  const parsed = parseRate(text)
  if (!parsed) throw new BadSetting('a rate such as 5/15m')
  return parsed
}

function rates(text: string): readonly Rate[] {
  const parsed = text.split(',').map(parseRate)
  const right = parsed.filter((one) => one !== undefined)
  if (right.length < parsed.length) throw new BadSetting('a rate such as 1/1d, or several with commas')
  return right
}

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

function defineMaxBytes(name: string, sentence: string, bytes: number): Setting<number> {
  return define({ name, shownDefault: String(bytes), sentence, parse: integer(1, 1 << 30), fallback: () => bytes })
}

/** A setting that Amazon's tools and machines set under the same name; it is checked where it is used. */
function defineAws(name: string, sentence: string, isSecret = false): Setting<string | undefined> {
  return define({ name, shownDefault: 'unset', sentence, parse: (text) => text, fallback: () => undefined, isSecret })
}

/** Every setting once, in the order of docs/settings.md, which is generated from here. A list, so it may be long. */
export const settings = {
  port: define({
    name: 'PORT',
    shownDefault: '8080',
    sentence: 'The port to listen on; 0 takes a free one.',
    parse: integer(0, 65535),
    fallback: () => 8080,
  }),
  host: define({
    name: 'HOST',
    shownDefault: '127.0.0.1',
    sentence: 'The address to listen on.',
    parse: (text) => text,
    fallback: () => '127.0.0.1',
  }),
  publicUrl: define<string | undefined>({
    name: 'PUBLIC_URL',
    shownDefault: 'http://HOST:PORT',
    sentence: 'The base URL as clients see it, used in every link in a response.',
    parse: webUrl,
    fallback: () => undefined,
  }),
  dataDir: define({
    name: 'DATA_DIR',
    shownDefault: './data',
    sentence: 'The folder of the embedded database and of the media.',
    parse: (text) => text,
    fallback: () => './data',
  }),
  databaseUrl: define<string | undefined>({
    name: 'DATABASE_URL',
    shownDefault: 'unset: SQLite in DATA_DIR',
    sentence: 'A postgres:// URL puts everything on PostgreSQL, for any number of server processes.',
    parse: postgresUrl,
    fallback: () => undefined,
  }),
  filesUrl: define<ObjectLocation | undefined>({
    name: 'FILES_URL',
    shownDefault: 'unset: folders in DATA_DIR',
    sentence:
      'Where media, pictures and uploads are stored: s3://bucket/prefix?endpoint=…&region=… for any S3-compatible object storage, so that machines need not share a disk.',
    parse: parseObjectLocation,
    fallback: () => undefined,
  }),
  filesTimeout: define({
    name: 'FILES_TIMEOUT',
    shownDefault: '10s',
    sentence:
      'How long a request to object storage may go without a response before it fails; a failed request is retried within this time.',
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  awsAccessKeyId: defineAws(
    'AWS_ACCESS_KEY_ID',
    'The id of the key for the object storage of FILES_URL; unset: the credentials of a role, from the first source that is set.',
    true,
  ),
  awsSecretAccessKey: defineAws('AWS_SECRET_ACCESS_KEY', 'The secret key for the object storage of FILES_URL.', true),
  awsSessionToken: defineAws(
    'AWS_SESSION_TOKEN',
    'The session token that goes with a temporary key for the object storage of FILES_URL.',
    true,
  ),
  awsWebIdentityTokenFile: defineAws(
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'The file of the token that is exchanged for the credentials of AWS_ROLE_ARN; read again at each renewal.',
  ),
  awsRoleArn: defineAws('AWS_ROLE_ARN', 'The role that the token of AWS_WEB_IDENTITY_TOKEN_FILE assumes.'),
  awsRoleSessionName: defineAws(
    'AWS_ROLE_SESSION_NAME',
    'The name of the session of AWS_ROLE_ARN, for the logs of the storage; unset: switchboard.',
  ),
  awsEndpointUrlSts: defineAws(
    'AWS_ENDPOINT_URL_STS',
    'Where the token of AWS_WEB_IDENTITY_TOKEN_FILE is exchanged; unset: STS of Amazon in the region of FILES_URL.',
  ),
  awsContainerCredentialsRelativeUri: defineAws(
    'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    'The path at http://169.254.170.2 that gives out the credentials of an ECS task.',
    true,
  ),
  awsContainerCredentialsFullUri: defineAws(
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    'The URL that gives out the credentials of a container or an EKS pod: https, or http on this machine or at an agent of ECS or EKS.',
  ),
  awsContainerAuthorizationToken: defineAws(
    'AWS_CONTAINER_AUTHORIZATION_TOKEN',
    'The Authorization header for AWS_CONTAINER_CREDENTIALS_FULL_URI.',
    true,
  ),
  awsContainerAuthorizationTokenFile: defineAws(
    'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
    'The file of the Authorization header for AWS_CONTAINER_CREDENTIALS_FULL_URI, read again at each renewal; used before AWS_CONTAINER_AUTHORIZATION_TOKEN.',
  ),
  awsEc2MetadataDisabled: defineAws(
    'AWS_EC2_METADATA_DISABLED',
    'true: the credentials of the role of an EC2 machine are not used.',
  ),
  awsEc2MetadataServiceEndpoint: defineAws(
    'AWS_EC2_METADATA_SERVICE_ENDPOINT',
    'Where the metadata of the machine is (IMDSv2); unset: http://169.254.169.254.',
  ),
  databaseConnections: define({
    name: 'DATABASE_CONNECTIONS',
    shownDefault: '10',
    sentence:
      'The most connections that a process opens to PostgreSQL: one for single reads, one for lists, with 5 or more one reserved for operators and health checks, and the rest for writes; no app can take all of the rest.',
    parse: integer(2, 1000),
    fallback: () => 10,
  }),
  databasePooler: define<DatabasePooler>({
    name: 'DATABASE_POOLER',
    shownDefault: 'none',
    sentence:
      'transaction when DATABASE_URL leads to a pooler that gives each transaction another connection, such as PgBouncer with pool_mode=transaction: then there are no prepared statements, and processes poll instead of notifying each other.',
    parse: oneOf(databasePoolers),
    fallback: () => 'none',
  }),
  databaseTimeout: define({
    name: 'DATABASE_TIMEOUT',
    shownDefault: '30s',
    sentence:
      'How long PostgreSQL may take to respond to a statement before its connection is dropped; a bit earlier the server ends the statement itself. Migrations may take longer.',
    parse: durationUpTo(10 * minute),
    fallback: () => 30 * second,
  }),
  databaseLockTimeout: define({
    name: 'DATABASE_LOCK_TIMEOUT',
    shownDefault: '10s',
    sentence:
      'How long a write waits on PostgreSQL for a lock, and twice that for a free connection, before it is refused with a transient error; a new connection may take half of that, and at least 5 s.',
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  clockTolerance: define({
    name: 'CLOCK_TOLERANCE',
    shownDefault: '60s',
    sentence:
      "How far the clock of a process may differ from PostgreSQL's; beyond it a process with workers is not ready, and it sends, deletes and gives up nothing.",
    parse: duration,
    fallback: () => minute,
  }),
  clockJump: define({
    name: 'CLOCK_JUMP',
    shownDefault: '3d',
    sentence:
      'How far time may go forward while the service does not see it pass; after a longer jump nothing is deleted or given up until ./switchboard clock accept.',
    parse: duration,
    fallback: () => 3 * day,
  }),
  secretsKey: define<SecretKey | undefined>({
    name: 'SECRETS_KEY',
    shownDefault: 'unset: the newest key in SECRETS_KEY_FILE',
    sentence:
      'The key that encrypts the secrets in the store: 32 bytes in base64 or hexadecimal, as ./switchboard secrets generate-key prints; the same for every process.',
    parse: secretKey,
    fallback: () => undefined,
    isSecret: true,
  }),
  secretsKeyOld: define<readonly SecretKey[]>({
    name: 'SECRETS_KEY_OLD',
    shownDefault: 'unset',
    sentence:
      'Earlier keys, separated by commas: they decrypt what was encrypted with them, until ./switchboard secrets rotate has encrypted it again.',
    parse: secretKeys,
    fallback: () => [],
    isSecret: true,
  }),
  secretsKeyFile: define({
    name: 'SECRETS_KEY_FILE',
    shownDefault: 'secrets.key in DATA_DIR',
    sentence: 'The file of keys, one per line, the newest first; created with mode 0600 if SECRETS_KEY is unset.',
    parse: (text) => text,
    fallback: ({ dataDir = '' }) => join(dataDir, 'secrets.key'),
  }),
  role: define<Role>({
    name: 'ROLE',
    shownDefault: 'all',
    sentence:
      'What the process does: api serves requests, worker delivers webhooks and runs timers (and serves only /healthz, /readyz and /metrics), all does both. On SQLite only all.',
    parse: oneOf(roles),
    fallback: () => 'all',
  }),
  world: define<string | undefined>({
    name: 'WORLD',
    shownDefault: 'worlds/demo.yaml when the store is empty and NODE_ENV is not production',
    sentence: 'The world file to apply at the start.',
    parse: (text) => text,
    fallback: () => undefined,
  }),
  allowInternalCallbacks: define({
    name: 'ALLOW_INTERNAL_CALLBACKS',
    shownDefault: 'true unless NODE_ENV=production',
    sentence: 'Whether callback URLs may be plain http or point at loopback, private or link-local addresses.',
    parse: flag,
    fallback: (_, environment) => environment['NODE_ENV'] !== 'production',
  }),
  sandbox: define({
    name: 'SANDBOX',
    shownDefault: 'on unless NODE_ENV=production',
    sentence:
      'Whether this is a test environment: operators can move the clock, cause faults and reset the store, and see the headers and bodies of requests.',
    parse: onOff,
    fallback: (_, environment) => environment['NODE_ENV'] !== 'production',
  }),
  consoleOn: define({
    name: 'CONSOLE',
    shownDefault: 'on',
    sentence: 'Whether the console is served; everything else works without it.',
    parse: onOff,
    fallback: () => true,
  }),
  consoleSession: define({
    name: 'CONSOLE_SESSION',
    shownDefault: '12h',
    sentence: 'How long somebody who signed in to the console stays signed in.',
    parse: duration,
    fallback: () => 12 * hour,
  }),
  oidcIssuer: define<string | undefined>({
    name: 'OIDC_ISSUER',
    shownDefault: 'unset: operators sign in by links',
    sentence:
      'The OpenID Connect issuer that operators sign in to the console with, such as https://login.example.com/realms/staff; https, or http on this machine outside production.',
    parse: issuerUrl,
    fallback: () => undefined,
  }),
  oidcClientId: define<string | undefined>({
    name: 'OIDC_CLIENT_ID',
    shownDefault: 'unset',
    sentence:
      'The client id of this service at the issuer of OIDC_ISSUER; its redirect URI is PUBLIC_URL/console/sign-in/callback.',
    parse: (text) => text,
    fallback: () => undefined,
  }),
  oidcClientSecret: define<string | undefined>({
    name: 'OIDC_CLIENT_SECRET',
    shownDefault: 'unset',
    sentence: 'The secret of OIDC_CLIENT_ID.',
    parse: (text) => text,
    fallback: () => undefined,
    isSecret: true,
  }),
  oidcAllow: define<readonly AllowedEntry[]>({
    name: 'OIDC_ALLOW',
    shownDefault: 'unset',
    sentence:
      'Who may sign in with OIDC_ISSUER, separated by commas: verified e-mail addresses, and groups as group:NAME; =ID after an entry, or =ID+ID, limits it to these businesses.',
    parse: parseAllowed,
    fallback: () => [],
  }),
  oidcScopes: define({
    name: 'OIDC_SCOPES',
    shownDefault: 'openid email profile',
    sentence:
      'The scopes to request from the issuer, separated by blanks; some issuers list groups only with the scope groups.',
    parse: scopeList,
    fallback: () => 'openid email profile',
  }),
  oidcGroupsClaim: define({
    name: 'OIDC_GROUPS_CLAIM',
    shownDefault: 'groups',
    sentence: 'The claim of the issuer that holds the names of the groups of a person.',
    parse: (text) => text,
    fallback: () => 'groups',
  }),
  trustProxy: define<AddressList>({
    name: 'TRUST_PROXY',
    shownDefault: 'unset: none',
    sentence:
      'Addresses and networks of the proxies in front, separated by commas: their X-Forwarded-For gives the client address of a request.',
    parse: addressList,
    fallback: () => new AddressList([]),
  }),
  allowedHosts: define<readonly string[]>({
    name: 'ALLOWED_HOSTS',
    shownDefault: 'unset',
    sentence:
      'Allowed host names of this server besides that of PUBLIC_URL, separated by commas; in production every name is allowed while this is unset.',
    parse: hostList,
    fallback: () => [],
  }),
  allowDemoTokens: define({
    name: 'ALLOW_DEMO_TOKENS',
    shownDefault: 'false',
    sentence:
      'Whether the tokens and app secrets of the demo world, which everybody knows, are accepted from other machines too.',
    parse: flag,
    fallback: () => false,
  }),
  vocabulary: define<VocabularyName>({
    name: 'VOCABULARY',
    shownDefault: 'msgapp',
    sentence: 'The names on the wire: msgapp as in the specification, or whatsapp for existing client libraries.',
    parse: oneOf(vocabularyNames),
    fallback: () => 'msgapp',
  }),
  versions: define<readonly string[]>({
    name: 'VERSIONS',
    shownDefault: 'v23.0',
    sentence: 'The API versions that are served, oldest first, separated by commas.',
    parse: versionList,
    fallback: () => ['v23.0'],
  }),
  rateLimitsOn: define({
    name: 'RATE_LIMITS',
    shownDefault: 'on',
    sentence: 'off turns all rate limits off.',
    parse: onOff,
    fallback: () => true,
  }),
  maxBodyBytes: define({
    name: 'MAX_BODY_BYTES',
    shownDefault: '1048576',
    sentence: 'The largest JSON or form body in bytes.',
    parse: integer(1024, 1 << 30),
    fallback: () => 1_048_576,
  }),
  requestLog: define({
    name: 'REQUEST_LOG',
    shownDefault: '1000',
    sentence: 'How many of the last requests at each door a process keeps for operators; 0 keeps none.',
    parse: integer(0, 100_000),
    fallback: () => 1000,
  }),
  maxWorldBytes: defineMaxBytes(
    'MAX_WORLD_BYTES',
    'The largest world file that operators can send in bytes.',
    8 * mebibyte,
  ),
  maxNumbersPerAccount: define({
    name: 'MAX_NUMBERS_PER_ACCOUNT',
    shownDefault: '2000',
    sentence: 'How many phone numbers can be created in an account.',
    parse: integer(1, 10_000_000),
    fallback: () => 2000,
  }),
  maxUsersPerGroup: define({
    name: 'MAX_USERS_PER_GROUP',
    shownDefault: '8',
    sentence: 'How many users can be in a group.',
    parse: integer(1, 1024),
    fallback: () => 8,
  }),
  carrierUrl: define<string | undefined>({
    name: 'CARRIER_URL',
    shownDefault: 'unset: the built-in carrier',
    sentence: 'The URL to POST verification codes to, for sending.',
    parse: postUrl,
    fallback: () => undefined,
  }),
  otlpEndpoint: define<string | undefined>({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    shownDefault: 'unset: nothing is exported',
    sentence:
      'The OpenTelemetry collector that traces are sent to by OTLP over HTTP, such as http://127.0.0.1:4318, without credentials or a query: keys for it go into OTEL_EXPORTER_OTLP_HEADERS.',
    parse: collectorUrl,
    fallback: () => undefined,
  }),
  verificationCodeDigits: define({
    name: 'VERIFICATION_CODE_DIGITS',
    shownDefault: '6',
    sentence: 'How many digits a verification code has.',
    parse: integer(4, 10),
    fallback: () => 6,
  }),
  verificationCodeLifetime: define({
    name: 'VERIFICATION_CODE_LIFETIME',
    shownDefault: '10m',
    sentence: 'How long a verification code is valid.',
    parse: duration,
    fallback: () => 10 * minute,
  }),
  wrongCodeLimit: define<Rate>({
    name: 'RATE_LIMIT_VERIFY_CODE',
    shownDefault: '5/15m',
    sentence:
      'Wrong verification codes, per number: after so many within the period, no code is accepted for the same period. Stored with the code, so it survives a restart.',
    parse: rate,
    fallback: () => ({ count: 5, milliseconds: 15 * minute }),
  }),
  maxUploadBytes: define({
    name: 'MAX_UPLOAD_BYTES',
    shownDefault: '5242880',
    sentence: 'The largest file of a resumable upload in bytes.',
    parse: integer(1, 1 << 30),
    fallback: () => 5_242_880,
  }),
  maxStoredBytes: define({
    name: 'MAX_STORED_BYTES',
    shownDefault: '100000000000',
    sentence:
      'How many bytes of media files an account, and of resumable uploads a business, can have stored; more are refused with 422.',
    parse: integer(1, Number.MAX_SAFE_INTEGER),
    fallback: () => 100_000_000_000,
  }),
  diskReserve: define({
    name: 'DISK_RESERVE',
    shownDefault: '100000000, or 5 % of a small disk',
    sentence:
      'How many bytes files leave free on the disk of DATA_DIR, so that the store can still be written to; with less, files are refused with 500 and `is_transient`.',
    parse: integer(0, Number.MAX_SAFE_INTEGER),
    fallback: () => undefined,
  }),
  uploadLifetime: define({
    name: 'UPLOAD_LIFETIME',
    shownDefault: '24h',
    sentence: 'How long a resumable upload stays open, and how long its handle is valid.',
    parse: duration,
    fallback: () => 24 * hour,
  }),
  callRingTime: define({
    name: 'CALL_RING_TIME',
    shownDefault: '60s',
    sentence: 'How long an unanswered call rings before it ends.',
    parse: duration,
    fallback: () => minute,
  }),
  callPermissionLifetime: define({
    name: 'CALL_PERMISSION_LIFETIME',
    shownDefault: '7d',
    sentence: 'How long a permission to call lasts if the gateway gives no time.',
    parse: duration,
    fallback: () => 7 * day,
  }),
  maxCallsPerDay: define({
    name: 'MAX_CALLS_PER_DAY',
    shownDefault: '100',
    sentence: 'How many calls a number can start to one user in 24 hours.',
    parse: integer(1, 1_000_000),
    fallback: () => 100,
  }),
  maxCallPermissionRequestsPerDay: define({
    name: 'MAX_CALL_PERMISSION_REQUESTS_PER_DAY',
    shownDefault: '1',
    sentence: 'How often a number can ask one user for permission to call in 24 hours.',
    parse: integer(1, 1_000_000),
    fallback: () => 1,
  }),
  maxCallPermissionRequestsPerWeek: define({
    name: 'MAX_CALL_PERMISSION_REQUESTS_PER_WEEK',
    shownDefault: '2',
    sentence: 'How often a number can ask one user for permission to call in 7 days.',
    parse: integer(1, 1_000_000),
    fallback: () => 2,
  }),
  templateReview: define<'auto' | 'manual'>({
    name: 'TEMPLATE_REVIEW',
    shownDefault: 'auto',
    sentence:
      'auto approves message templates at once; manual waits for ./switchboard templates approve, or for the gateway.',
    parse: oneOf(['auto', 'manual']),
    fallback: () => 'auto',
  }),
  maxTemplates: define({
    name: 'MAX_TEMPLATES',
    shownDefault: '250',
    sentence: 'How many names of message templates an account can have.',
    parse: integer(1, 1_000_000),
    fallback: () => 250,
  }),
  maxTemplatesVerified: define({
    name: 'MAX_TEMPLATES_VERIFIED',
    shownDefault: '6000',
    sentence:
      'How many names of message templates an account can have if its business_verification_status is VERIFIED.',
    parse: integer(1, 1_000_000),
    fallback: () => 6000,
  }),
  maxTemplateEdits: define<readonly Rate[]>({
    name: 'MAX_TEMPLATE_EDITS',
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
    shownDefault: '30d',
    sentence: 'How long the name of an approved message template that was deleted cannot be used again.',
    parse: duration,
    fallback: () => 30 * day,
  }),
  callPermissionRequestLifetime: define({
    name: 'CALL_PERMISSION_REQUEST_LIFETIME',
    shownDefault: '7d',
    sentence: 'How long a request for permission to call waits for the decision of the user before it expires.',
    parse: duration,
    fallback: () => 7 * day,
  }),
  serviceWindow: define({
    name: 'SERVICE_WINDOW',
    shownDefault: '24h',
    sentence: 'How long after a message or call of a user a number may write to the user without a template.',
    parse: duration,
    fallback: () => day,
  }),
  messageTtl: define({
    name: 'MESSAGE_TTL',
    shownDefault: '30d',
    sentence: 'How long a message waits to be delivered before it is dropped, where its template says nothing else.',
    parse: duration,
    fallback: () => 30 * day,
  }),
  messageKeep: define({
    name: 'MESSAGE_KEEP',
    shownDefault: '30d',
    sentence:
      'How long ids, kinds, times and states of messages are kept, ended calls, and chats without messages; a message that is still under way is kept until it ends.',
    parse: duration,
    fallback: () => 30 * day,
  }),
  messageBodyKeep: define({
    name: 'MESSAGE_BODY_KEEP',
    shownDefault: '30d',
    sentence:
      'How long texts, files and other contents of messages are kept, also in the webhook log; 0 removes them within a minute after a message was delivered, failed or dropped.',
    parse: durationOrZero,
    fallback: () => 30 * day,
  }),
  streamKeep: define({
    name: 'STREAM_KEEP',
    shownDefault: '24h',
    sentence: 'How long after an event GET /gateway/stream can resume there, by Last-Event-ID.',
    parse: duration,
    fallback: () => day,
  }),
  maxStreams: define({
    name: 'MAX_STREAMS',
    shownDefault: '1000',
    sentence:
      'How many streams (GET /gateway/stream, and as many of GET /operator/stream) can be open in one process; more are refused with 429.',
    parse: integer(1, 1_000_000),
    fallback: () => 1000,
  }),
  usersPresence: define<'online' | 'offline'>({
    name: 'USERS_PRESENCE',
    shownDefault: 'online; offline in production',
    sentence: 'The presence of users for whom the gateway has set none: online or offline.',
    parse: oneOf(['online', 'offline'] as const),
    fallback: (_, environment) => (environment['NODE_ENV'] === 'production' ? 'offline' : 'online'),
  }),
  phoneDeliveryDelay: define({
    name: 'PHONE_DELIVERY_DELAY',
    shownDefault: '0s',
    sentence: 'How long after a message was sent a phone that is online reports it as delivered.',
    parse: durationOrNone,
    fallback: () => 0,
  }),
  phoneReadDelay: define({
    name: 'PHONE_READ_DELAY',
    shownDefault: '1s',
    sentence: 'How long after its delivery a message is read by a user whose auto_read is on.',
    parse: durationOrNone,
    fallback: () => second,
  }),
  idempotencyKeep: define({
    name: 'IDEMPOTENCY_KEEP',
    shownDefault: '24h',
    sentence: 'How long a repeated Idempotency-Key returns the first response.',
    parse: duration,
    fallback: () => day,
  }),
  linkFetchTimeout: define({
    name: 'LINK_FETCH_TIMEOUT',
    shownDefault: '30s',
    sentence: 'How long fetching the media file behind a link of a message may take, redirects included.',
    parse: duration,
    fallback: () => 30 * second,
  }),
  linkFetchCache: define({
    name: 'LINK_FETCH_CACHE',
    shownDefault: '10m',
    sentence:
      'How long a media file that was fetched from a link is used again for the same link of the same number; 0s: never.',
    parse: durationOrNone,
    fallback: () => 10 * minute,
  }),
  typingTime: define({
    name: 'TYPING_TIME',
    shownDefault: '25s',
    sentence: 'How long a typing indicator is shown unless a message ends it.',
    parse: duration,
    fallback: () => 25 * second,
  }),
  maxBlockedUsers: define({
    name: 'MAX_BLOCKED_USERS',
    shownDefault: '64000',
    sentence: 'How many users a number can block.',
    parse: integer(1, 10_000_000),
    fallback: () => 64_000,
  }),
  maxMarketingPerUserPerDay: define({
    name: 'MAX_MARKETING_PER_USER_PER_DAY',
    shownDefault: '0: no limit',
    sentence:
      'How many marketing templates of one number a user gets within 24 hours; more of them fail with code 131049.',
    parse: integer(0, 1_000_000),
    fallback: () => 0,
  }),
  maxImageBytes: defineMaxBytes('MAX_IMAGE_BYTES', 'The largest image (jpeg, png) in bytes.', 5 * mebibyte),
  maxAudioBytes: defineMaxBytes(
    'MAX_AUDIO_BYTES',
    'The largest audio file (aac, amr, mpeg, mp4, ogg) in bytes.',
    16 * mebibyte,
  ),
  maxVideoBytes: defineMaxBytes('MAX_VIDEO_BYTES', 'The largest video (mp4, 3gpp) in bytes.', 16 * mebibyte),
  maxDocumentBytes: defineMaxBytes(
    'MAX_DOCUMENT_BYTES',
    'The largest document (txt, pdf, doc, docx, xls, xlsx, ppt, pptx) in bytes.',
    100 * mebibyte,
  ),
  maxStickerBytes: defineMaxBytes('MAX_STICKER_BYTES', 'The largest sticker (webp) in bytes.', 100 * kibibyte),
  maxAnimatedStickerBytes: defineMaxBytes(
    'MAX_ANIMATED_STICKER_BYTES',
    'The largest sticker that moves (webp) in bytes.',
    500 * kibibyte,
  ),
  maxMediaTextBytes: defineMaxBytes(
    'MAX_MEDIA_TEXT_BYTES',
    'The largest JSON or form body that holds a media file as text, in bytes; larger files need multipart/form-data.',
    16 * mebibyte,
  ),
  mediaLifetime: define({
    name: 'MEDIA_LIFETIME',
    shownDefault: '30d',
    sentence: 'How long a media file is kept after its upload.',
    parse: duration,
    fallback: () => 30 * day,
  }),
  mediaLinkLifetime: define({
    name: 'MEDIA_LINK_LIFETIME',
    shownDefault: '5m',
    sentence: 'How long the link to a media file is valid.',
    parse: duration,
    fallback: () => 5 * minute,
  }),
  webhookTimeout: define({
    name: 'WEBHOOK_TIMEOUT',
    shownDefault: '10s',
    sentence: 'How long a callback may take to respond, from the first attempt to connect to the end of the response.',
    // A timer of the runtime beyond some weeks would fire at once; nobody waits for minutes either.
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  webhookRetryDelays: define<readonly number[]>({
    name: 'WEBHOOK_RETRY_DELAYS',
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
    shownDefault: '7d',
    sentence: 'How long after an event its delivery is retried before it fails.',
    parse: duration,
    fallback: () => 7 * day,
  }),
  webhookKeep: define({
    name: 'WEBHOOK_KEEP',
    shownDefault: '30d',
    sentence: 'How long events, deliveries and their attempts are kept, and how long duplicate messages are detected.',
    parse: duration,
    fallback: () => 30 * day,
  }),
  webhookLease: define({
    name: 'WEBHOOK_LEASE',
    shownDefault: '10s',
    sentence:
      'How long the deliveries, timers and links of a dead process wait before another process takes them over; the same for every process.',
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  webhookConcurrency: define({
    name: 'WEBHOOK_CONCURRENCY',
    shownDefault: '32',
    sentence:
      'How many posts to one callback may be under way at once, each of another conversation; it begins with 4, grows while posts succeed and halves when they fail.',
    parse: integer(1, 128),
    fallback: () => 32,
  }),
  webhookBatch: define({
    name: 'WEBHOOK_BATCH',
    shownDefault: '1',
    sentence: 'How many changes of one account may share a post.',
    parse: integer(1, 100),
    fallback: () => 1,
  }),
  replayAtOnce: define({
    name: 'REPLAY_AT_ONCE',
    shownDefault: '1000',
    sentence: 'How many deliveries a replay by filter sends again at once; when more match, it becomes a job.',
    parse: integer(0, 1000),
    fallback: () => 1000,
  }),
  webhookMaxBodyBytes: define({
    name: 'WEBHOOK_MAX_BODY_BYTES',
    shownDefault: '3145728',
    sentence: 'The largest post of inbound events, in bytes.',
    parse: integer(1024, 1 << 30),
    fallback: () => 3_145_728,
  }),
  auditKeep: define<number | undefined>({
    name: 'AUDIT_KEEP',
    shownDefault: '400d',
    sentence:
      'How long audit records are kept, and the expired tokens that they name: a duration such as 400d, or forever.',
    parse: durationOrForever,
    fallback: () => 400 * day,
  }),
  maxBodyBytesPerToken: define({
    name: 'MAX_BODY_BYTES_PER_TOKEN',
    shownDefault: '67108864, or twice MAX_BODY_BYTES or WEBHOOK_MAX_BODY_BYTES if that is more',
    sentence: 'How many bytes of bodies a process holds for one token while they arrive; beyond that 429.',
    parse: integer(1024, 2 ** 32),
    fallback: ({ maxBodyBytes = 0, webhookMaxBodyBytes = 0 }) =>
      Math.max(64 * mebibyte, 2 * maxBodyBytes, 2 * webhookMaxBodyBytes),
  }),
  maxUnprovenBytesPerAddress: define({
    name: 'MAX_UNPROVEN_BYTES_PER_ADDRESS',
    shownDefault: '8388608, or twice WEBHOOK_MAX_BODY_BYTES if that is more',
    sentence: 'How many bytes of signed posts are held for one address while their signatures are being checked.',
    parse: integer(1024, 1 << 30),
    fallback: ({ webhookMaxBodyBytes = 0 }) => Math.max(8 * mebibyte, 2 * webhookMaxBodyBytes),
  }),
  maxUnprovenBytes: define({
    name: 'MAX_UNPROVEN_BYTES',
    shownDefault: '33554432, or four times MAX_UNPROVEN_BYTES_PER_ADDRESS if that is more',
    sentence: 'How many bytes of signed posts a process holds at once while their signatures are being checked.',
    parse: integer(1024, 2 ** 32),
    fallback: ({ maxUnprovenBytesPerAddress = 0 }) => Math.max(32 * mebibyte, 4 * maxUnprovenBytesPerAddress),
  }),
  unprovenBodyTimeout: define({
    name: 'UNPROVEN_BODY_TIMEOUT',
    shownDefault: '10s',
    sentence: 'How long the body of an unauthenticated caller may take to arrive.',
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  maxConnectionsPerAddress: define({
    name: 'MAX_CONNECTIONS_PER_ADDRESS',
    shownDefault: '1000 in production, otherwise 10000',
    sentence: 'How many connections one address may have open to a process; those of TRUST_PROXY are not counted.',
    parse: integer(1, 1_000_000),
    fallback: (_, environment) => (environment['NODE_ENV'] === 'production' ? 1000 : 10_000),
  }),
  headersTimeout: define({
    name: 'HEADERS_TIMEOUT',
    shownDefault: '20s',
    sentence: 'How long the headers of a request may take to arrive.',
    parse: durationUpTo(10 * minute),
    fallback: () => 20 * second,
  }),
  requestTimeout: define({
    name: 'REQUEST_TIMEOUT',
    shownDefault: '15m',
    sentence: 'How long a request with its body may take to arrive: 100 MiB over a line of 1 Mbit/s by default.',
    parse: durationUpTo(hour),
    fallback: () => 15 * minute,
  }),
  idleTimeout: define({
    name: 'IDLE_TIMEOUT',
    shownDefault: '2m',
    sentence: 'How long a connection may be idle while a request, its body or its response is under way.',
    parse: durationUpTo(10 * minute),
    fallback: () => 2 * minute,
  }),
  stopGrace: define({
    name: 'STOP_GRACE',
    shownDefault: '10s',
    sentence:
      'How long requests, and then deliveries, may take to finish when the server stops; the process ends at the latest twice this and 5 s after the signal.',
    parse: durationUpTo(10 * minute),
    fallback: () => 10 * second,
  }),
  logLevel: define<LogLevel>({
    name: 'LOG_LEVEL',
    shownDefault: 'info',
    sentence: `How much is logged: ${logLevels.join(', ')}.`,
    parse: oneOf(logLevels),
    fallback: () => 'info',
  }),
  logFormat: define<LogFormat>({
    name: 'LOG_FORMAT',
    shownDefault: 'auto',
    sentence:
      'The format of the log on standard error: json is one object per line, pretty is for people (NO_COLOR removes colours), auto is pretty on a terminal and json elsewhere.',
    parse: oneOf(logFormats),
    fallback: () => 'auto',
  }),
} satisfies Partial<{ [K in keyof Config]: Setting<Config[K]> }>

/** The setting of one rate class. */
export function rateSettingName(rateClass: AnyRateClassName): string {
  return `RATE_LIMIT_${rateClass.toUpperCase()}`
}
