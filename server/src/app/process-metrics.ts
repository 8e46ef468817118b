import { Gauge, type Registry } from 'prom-client'
import type { Clock } from '../base/time/clock.ts'
import { second } from '../base/time/duration.ts'
import { shareWhileRunning } from '../base/work/share-while-running.ts'
import type { Database, Db } from '../db/database.ts'
import type { Feed } from '../stream/feed.ts'
import { readForMetric } from '../telemetry/store-metrics.ts'
import type { DescribedProcess } from '../telemetry/telemetry-settings.ts'

/** Shows at /metrics what runs, and how much of its connections it uses. */
export function watchProcess(
  registry: Registry,
  { version, role }: DescribedProcess,
  { product, isEmbedded, connections }: Pick<Database, 'product' | 'isEmbedded' | 'connections'>,
): void {
  const build = { version, node: process.versions.node, role, database: isEmbedded ? 'sqlite' : product.toLowerCase() }
  new Gauge({
    name: 'switchboard_build_info',
    help: 'Always 1; the labels say which version runs, on which Node.js and database, and in which role.',
    labelNames: ['version', 'node', 'role', 'database'] as const,
    registers: [registry],
  }).set(build, 1)
  new Gauge({
    name: 'switchboard_database_connections',
    help: 'Connections of this process to PostgreSQL for transactions and lists, by state: in_use or idle.',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      if (!connections) return
      const { inUse, idle } = connections()
      this.set({ state: 'in_use' }, inUse)
      this.set({ state: 'idle' }, idle)
    },
  })
  for (const { name, help, key } of [
    {
      name: 'switchboard_database_connections_max',
      help: 'How many of these connections there can be; absent with an embedded store.',
      key: 'max',
    },
    {
      name: 'switchboard_database_connection_waiters',
      help: 'Transactions and lists that wait for one of these connections; absent with an embedded store.',
      key: 'waiting',
    },
  ] as const) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        if (connections) this.set(connections()[key])
        else this.remove()
      },
    })
  }
}

/** Shows at /metrics how many listen. */
export function watchStreams(registry: Registry, streams: Readonly<Record<string, Pick<Feed, 'openStreams'>>>): void {
  new Gauge({
    name: 'switchboard_streams_open',
    help: 'Streams that are open at this process, and requests that wait for an event, by door.',
    labelNames: ['door'] as const,
    registers: [registry],
    collect() {
      for (const [door, { openStreams }] of Object.entries(streams)) this.set({ door }, openStreams)
    },
  })
}

/** Shows at /metrics whether timers fire. */
export function watchTimers(registry: Registry, database: Database, clock: Clock): void {
  // Not again before that has ended: behind a locked table each read would take one more connection.
  const readOldest = shareWhileRunning(() => findOldestTimer(database.reserved))
  new Gauge({
    name: 'switchboard_timer_lateness_seconds',
    help: 'How long the oldest timer has been due that has not fired; 0 when none is late.',
    registers: [registry],
    async collect() {
      const now = clock.now()
      const due = await readForMetric(database, readOldest)
      if (due === undefined) this.remove()
      else this.set(Math.max(0, now - due.time) / second)
    },
  })
}

async function findOldestTimer(db: Db): Promise<{ time: number }> {
  const timer = await db.query.selectFrom('timers').select('due_time').orderBy('due_time').limit(1).executeTakeFirst()
  return { time: timer?.due_time ?? Number.POSITIVE_INFINITY }
}
