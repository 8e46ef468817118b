import { shareWhileRunning } from '../base/work/share-while-running.ts'
import type { Config } from '../config.ts'
import { readMigrations } from '../db/schema/migrations.ts'
import { serviceSecret } from '../db/secrets/stored-secrets.ts'
import { makeVerifyCallback } from '../delivery/post/handshake.ts'
import { readmitScoped } from '../doors/scoped.ts'
import { checkCallbackUrl } from '../egress/callback-url.ts'
import type { RequestLog } from '../http/observe/request-log.ts'
import type { PipelineDeps } from '../http/pipeline-deps.ts'
import { nodeKinds } from '../operations.ts'
import type { OwnUsersStream } from '../resources/users/stream-source.ts'
import { makeIntake } from '../resources/webhooks/inbound/intake.ts'
import type { openSandbox } from '../sandbox/sandbox.ts'
import { makeConsole } from '../site/console.ts'
import { makeDocuments } from '../site/documents.ts'
import { Issuer, type OidcSettings } from '../site/issuer.ts'
import { makePeopleIssuer } from '../site/people-issuer.ts'
import { findReadiness } from '../site/readiness.ts'
import { packageVersion } from '../version.ts'
import { makeWorldPort } from '../world/port.ts'
import { judgeClock } from './clock-readiness.ts'
import type { Foundation } from './foundation.ts'
import type { Limits } from './limits.ts'
import { watchReadiness } from './readiness-metrics.ts'
import { noteHold } from './sending-hold-readiness.ts'

export interface PortParts {
  readonly requestLog: RequestLog
  readonly usersStream: OwnUsersStream
  readonly sandbox: ReturnType<typeof openSandbox> | undefined
}

/** What handlers may use besides the store. */
export async function makePorts(
  foundation: Foundation,
  { requestLog, usersStream, sandbox }: PortParts,
  { limiter }: Limits,
): Promise<PipelineDeps['ports']> {
  const { config, database, clock, random, log, vocabulary, publicUrl, userIds, metrics, table } = foundation
  const { production, versions, allowInternalCallbacks: allowInternal } = config
  const { clockGuard, sendingHold } = foundation
  const judges = {
    judgeClock: () => judgeClock(clockGuard.state, config.role, config.clockJump),
    noteHold: () => noteHold(sendingHold),
  }
  const oidc = readOidc(config)
  const issuer = oidc && new Issuer(oidc, foundation)
  const secret = await serviceSecret(database, random, 'console')
  const migrations = readMigrations()
  const readiness = shareWhileRunning(() => findReadiness(database, migrations, judges))
  watchReadiness(metrics.registry, database, readiness)
  return {
    // These classes are counted by node, whatever the app.
    countUse: async (rateClass, node) => void (await limiter.consume(rateClass, { app_id: '' }, node)),
    files: foundation.files,
    pieces: foundation.pieces,
    takePost: makeIntake({
      ...{ database, clock, random, vocabulary, publicUrl, userIds },
      sealLink: (path) => publicUrl() + foundation.linkSealer.seal(path),
      metrics: foundation.deliveryMetrics,
      timeoutMs: 2 * config.databaseLockTimeout,
      readmit: (before) => readmitScoped({ database, clock }, before, 'gateway'),
    }),
    sandbox: sandbox?.port,
    service: {
      version: packageVersion(),
      versions,
      vocabulary: config.vocabulary,
      store: database.product,
      process: foundation.self,
      sharedSettings: foundation.sharedSettings,
      nodeKinds,
    },
    feed: foundation.feed,
    listRequests: () => requestLog.list(),
    readmitOperator: (before) => readmitScoped({ database, clock }, before, 'operator'),
    world: makeWorldPort({ database, clock, random, production, longIds: vocabulary.habits.long_ids }),
    checkCallbackUrl: (url, member) => void checkCallbackUrl(url, { allowInternal, member }),
    usersStream,
    verifyCallback: makeVerifyCallback({ egress: foundation.egress, random, allowInternal }),
    documents: makeDocuments({
      ...{ operations: table, vocabulary, versions, publicUrl, database, clock, production },
      rates: config.rates,
      packageVersion: packageVersion(),
    }),
    console: makeConsole({
      ...{ database, clock, random, log, publicUrl, production },
      isOn: config.consoleOn,
      sandbox: config.sandbox,
      lifetime: config.consoleSession,
      ...{ secret, oidc, issuer },
    }),
    peopleIssuer:
      issuer && config.oidcPeople ? makePeopleIssuer({ issuer, clock, random, publicUrl, secret }) : undefined,
    health: {
      findReadiness: readiness,
      readClock: () => ({ hold: clockGuard.state.hold, offset: clockGuard.state.offset }),
      sendingHeldSince: () => sendingHold.heldSince,
      readMetrics: shareWhileRunning(async () => ({
        contentType: metrics.registry.contentType,
        text: await metrics.registry.metrics(),
      })),
    },
  }
}

function readOidc(config: Config): OidcSettings | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcAllow: allow } = config
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined
  return { issuer, clientId, clientSecret, allow, scopes: config.oidcScopes, groupsClaim: config.oidcGroupsClaim }
}
