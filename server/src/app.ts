import type { AddressInfo } from 'node:net'
import type { Clock } from './base/clock.ts'
import type { Log } from './base/log.ts'
import type { Random } from './base/random.ts'
import type { Config } from './config.ts'
import type { Database } from './db/database.ts'
import { serviceSecret } from './db/secrets.ts'
import { openBusinessDoor } from './doors/business.ts'
import { openOperatorsDoor, operatorPaths } from './doors/operators.ts'
import { CursorSealer } from './graph/cursors.ts'
import { chooseVocabulary } from './graph/vocabulary.ts'
import { Metrics } from './http/metrics.ts'
import { createServer } from './http/server.ts'
import { Limiter } from './limits/limiter.ts'
import { buildOperations } from './operations.ts'

/** Everything that the service takes from outside itself. */
export interface AppParts {
  readonly config: Config
  /** Open and migrated. Closing it is for whoever opened it. */
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export interface App {
  /** Starts to serve and returns the address, `http://HOST:PORT`. */
  listen(): Promise<string>
  /** Stops accepting, finishes what runs (for so long at most), and lets go. */
  close(graceMilliseconds: number): Promise<void>
}

/** The composition root: the one place that knows every part. */
export async function createApp({ config, database, clock, random, log }: AppParts): Promise<App> {
  const words = chooseVocabulary(config.vocabulary)
  const metrics = new Metrics()
  let address = ''

  const server = createServer({
    words,
    versions: config.versions,
    random,
    log,
    metrics,
    doors: [...operatorPaths, 'docs', 'openapi.json', 'gateway', words.product],
  })
  openOperatorsDoor(server, database, metrics)
  openBusinessDoor(server, buildOperations(words), {
    database,
    clock,
    random,
    words,
    versions: config.versions,
    limiter: new Limiter({ on: config.rateLimitsOn, rates: config.rates, sharedPool: database.pool }),
    cursors: new CursorSealer(await serviceSecret(database, random, 'cursors')),
    maxBodyBytes: config.maxBodyBytes,
    publicUrl: () => config.publicUrl ?? address,
  })

  return {
    async listen() {
      await server.listen({ port: config.port, host: config.host })
      address = writeAddress(server.server.address() as AddressInfo)
      return address
    },
    async close(graceMilliseconds) {
      const force = setTimeout(() => server.server.closeAllConnections(), graceMilliseconds)
      await server.close()
      clearTimeout(force)
    },
  }
}

function writeAddress({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}
