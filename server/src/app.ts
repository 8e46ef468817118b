import type { AddressInfo } from 'node:net'
import { watchAgreement } from './app/agreement-metrics.ts'
import { type AppDeps, type Foundation, layFoundation, refuseStream } from './app/foundation.ts'
import { Limits } from './app/limits.ts'
import { watchStreams } from './app/process-metrics.ts'
import { makeSandbox } from './app/sandbox.ts'
import { makeWebServer } from './app/web-server.ts'
import { Workers } from './app/workers.ts'
import { isGrantValid } from './auth/allowed-operators.ts'
import { endStaleSessions } from './auth/sessions.ts'
import { TokenUses } from './auth/token-uses.ts'
import type { Log } from './base/log/log.ts'
import { isLoopbackUrl } from './base/text/addresses.ts'
import { readmitScoped } from './doors/scoped.ts'
import { Agreement } from './processes/agreement.ts'
import { Heartbeat } from './processes/heartbeat.ts'
import { makeUsersStream, type OwnUsersStream } from './resources/users/stream-source.ts'

export interface App {
  /** Starts to serve and returns the address, `http://HOST:PORT`. */
  listen(): Promise<string>
  /** Resolves when everything that is due now has happened: for tests, which control the clock. */
  settle(): Promise<void>
  /** Deletes and gives up what is old enough, without waiting until that is done by itself: for tests. */
  sweep(): Promise<void>
  /** Stops accepting, finishes work under way (within a time limit), and releases everything. */
  close(graceMilliseconds: number): Promise<void>
}

/** How many connections may wait while the process is busy, if the system allows as many: others would have to try again a second later. */
const maxUnaccepted = 4096

/** The composition root: `app/` makes the parts of the service, each with its dependencies, and this joins them. */
export async function createApp(given: AppDeps): Promise<App> {
  const foundation = await layFoundation(given)
  const { config, database, clock, log } = foundation
  const workers = new Workers(foundation)
  const limits = new Limits(foundation)
  const usersStream = openUsersStream(foundation)
  const agreement = new Agreement(database, log, foundation.self.id, foundation.sharedSettings)
  watchAgreement(foundation.metrics.registry, agreement)
  watchStreams(foundation.metrics.registry, { gateway: usersStream, operator: foundation.feed })
  const tokenUses = new TokenUses(clock)
  const heartbeat = new Heartbeat(database, clock, log, foundation.self, foundation.clockGuard, agreement, tokenUses)
  const sandbox = makeSandbox(foundation, { workers, heartbeat, usersStream, limits })
  const { server, connections } = await makeWebServer(foundation, { limits, usersStream, sandbox, tokenUses })
  let stopWaking = (): void => undefined
  return {
    async listen() {
      await foundation.clockGuard.check()
      await foundation.sendingHold.check()
      if (config.role !== 'worker' && config.consoleOn) await endStale(foundation)
      await server.listen({ port: config.port, host: config.host, backlog: maxUnaccepted })
      const address = writeAddress(server.server.address() as AddressInfo)
      foundation.listening.address = address
      foundation.clockGuard.start()
      foundation.sendingHold.start()
      if (!config.production && !isLoopbackUrl(address)) warnOfExposure(log, address)
      await workers.start()
      stopWaking = database.onDue((due) => workers.wakeDue(due))
      await sandbox?.watch.follow()
      sandbox?.watch.start()
      heartbeat.start()
      await heartbeat.settle()
      return address
    },
    settle: () => workers.settle(),
    sweep: () => workers.sweep(),
    async close(graceMilliseconds) {
      // Streams never end by themselves.
      await Promise.all([usersStream.close(), foundation.feed.close()])
      const hasEnded = await connections.close(server, graceMilliseconds)
      if (!hasEnded) log.error('stopping: some requests did not end in time and are left behind')
      stopWaking()
      await sandbox?.watch.stop()
      await heartbeat.stop()
      await workers.stop(graceMilliseconds)
      await foundation.clockGuard.stop()
      await foundation.sendingHold.stop()
      await foundation.waker.close()
      await foundation.spans?.close()
      await foundation.metricsExport?.close()
      await foundation.store.close()
    },
  }
}

function openUsersStream({ config, database, clock, log, publicUrl, linkSealer }: Foundation): OwnUsersStream {
  return makeUsersStream({
    database,
    clock,
    log,
    publicUrl,
    settings: config,
    sealLink: (path) => publicUrl() + linkSealer.seal(path),
    readmit: (before) => readmitScoped({ database, clock }, before, 'gateway'),
    refuse: refuseStream,
  })
}

/** Whoever is taken out of OIDC_ALLOW is signed out by the start that this takes. */
async function endStale({ config: { oidcIssuer, oidcAllow }, database, clock, log }: Foundation): Promise<void> {
  const ended = await endStaleSessions(database, clock, (grant) => isGrantValid(grant, oidcIssuer, oidcAllow))
  if (ended > 0) log.info({ ended }, 'ended sessions of the console whose entries are no longer in OIDC_ALLOW')
}

/** Outside production many things are allowed that only the person running the trial should reach. */
function warnOfExposure(log: Log, address: string): void {
  log.warn(
    { address },
    'other machines can reach this server, which is not in production: callbacks may lead to internal addresses; set NODE_ENV=production, or HOST=127.0.0.1',
  )
}

function writeAddress({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}
