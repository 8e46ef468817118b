import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { type Log, silentLog } from '../../src/base/log/log.ts'
import { Collector } from './collector.ts'
import type { Engine } from './databases.ts'
import { startTestServer, type TestServer } from './server.ts'

/** A server for the tests of a suite that exports to a collector. */
export interface ExportingServer {
  readonly collector: Collector
  /** What its log has warned of. */
  readonly warnings: readonly string[]
  readonly serverOf: () => TestServer
}

export function useExportingServer(
  engine: Engine,
  settingsFor: (collectorUrl: string) => Record<string, string>,
): ExportingServer {
  const collector = new Collector()
  const warnings: string[] = []
  const warn = (about: unknown, text?: string) => void warnings.push(text ?? String(about))
  const log: Log = Object.assign(Object.create(silentLog), { warn })
  const held: { server?: TestServer } = {}
  before(async () => {
    held.server = await startTestServer({ engine, env: settingsFor(await collector.listen()), log })
  })
  after(async () => {
    await held.server?.stop()
    collector.close()
  })
  return { collector, warnings, serverOf: () => held.server ?? assert.fail() }
}
