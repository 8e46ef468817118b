import { type App, createApp } from '../../src/app.ts'
import { systemRandom } from '../../src/base/keys/random.ts'
import { silentLog } from '../../src/base/log/log.ts'
import type { Clock } from '../../src/base/time/clock.ts'
import { type Environment, readConfig } from '../../src/config.ts'
import { chooseVocabulary } from '../../src/graph/vocabulary.ts'
import { buildOperations } from '../../src/operations.ts'
import type { TimeSources } from '../../src/timers/clock-guard.ts'
import { Client } from './client.ts'
import { publicResponsesOf } from './public-responses.ts'
import { sourcesOf, type TestServer } from './server.ts'

/**
 * Another instance of the service on the store of a test server, like another process or the next start: it shares only the database,
 * the files and, unless it gets one of its own, the clock. The test must close it.
 */
export async function startSecondProcess(
  { database, clock: usualClock, dataDir, files }: TestServer,
  env: Environment = {},
  { clock = usualClock, timeSources = sourcesOf(clock) }: { clock?: Clock; timeSources?: TimeSources } = {},
): Promise<{ app: App; client: Client }> {
  const usual = { PORT: '0', DATA_DIR: dataDir, RATE_LIMITS: 'off', LOG_LEVEL: 'silent' }
  const config = readConfig({ ...usual, ...files.settings, ...env })
  const app = await createApp({ config, database, clock, random: systemRandom, log: silentLog, timeSources })
  const vocabulary = chooseVocabulary(config.vocabulary)
  const table = buildOperations(vocabulary)
  const publicResponses = publicResponsesOf(vocabulary, table, database)
  return { app, client: new Client(await app.listen(), vocabulary, table, publicResponses) }
}
