import type { AllowedEntry } from '../auth/allowed-operators.ts'
import type { SecretKey } from '../base/keys/secret-key.ts'
import type { LogFormat, LogLevel } from '../base/log/log.ts'
import type { AddressList } from '../base/text/addresses.ts'
import type { IceServer } from '../base/text/ice-servers.ts'
import type { CredentialSettings } from '../files/s3/credentials/choose.ts'
import type { ObjectLocation } from '../files/s3/location.ts'
import type { Settings } from '../graph/settings.ts'
import type { ServedVersions } from '../graph/versions.ts'
import type { VocabularyName } from '../graph/vocabulary.ts'
import type { AddressClassName, Rate, RateClassName } from '../limits/classes.ts'
import type { TelemetrySettings } from '../telemetry/telemetry-settings.ts'

/** The role of a process: everything, only requests, or only background work. */
export const roles = ['all', 'api', 'worker'] as const
export type Role = (typeof roles)[number]

/** What is between the service and PostgreSQL. */
export const databasePoolers = ['none', 'transaction'] as const
export type DatabasePooler = (typeof databasePoolers)[number]

export interface Config extends Settings, CredentialSettings, TelemetrySettings {
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
  /** For the commands that carry the sound of calls. */
  readonly iceServers: readonly IceServer[]
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
  readonly oidcPeople: boolean
  readonly vocabulary: VocabularyName
  readonly versions: ServedVersions
  readonly rates: Readonly<Record<AnyRateClassName, readonly Rate[]>>
  readonly maxBodyBytes: number
  readonly requestLog: number
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
  readonly maxUnauthenticatedBytesPerAddress: number
  readonly unauthenticatedBodyTimeout: number
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
