import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../db/database.ts'
import type { Readiness } from '../graph/ports.ts'

/** Shows at /metrics what /readyz says: a process that a proxy has taken out of service fails no request, and would be missed by nobody. */
export function watchReadiness(
  registry: Registry,
  database: Pick<Database, 'outage'>,
  findReadiness: () => Promise<Readiness>,
): void {
  const gauges: readonly { name: string; help: string; isSet: (readiness: Readiness) => boolean }[] = [
    { name: 'switchboard_ready', help: 'Whether /readyz is 200.', isSet: ({ reason }) => reason === undefined },
    {
      name: 'switchboard_database_up',
      help: 'Whether the database responds to this process.',
      isSet: ({ isOnlyDatabase }) => isOnlyDatabase === undefined,
    },
    {
      name: 'switchboard_database_writable',
      help: 'Whether the database responds and takes writes, as far as this process has tried.',
      isSet: ({ isOnlyDatabase }) => isOnlyDatabase === undefined && database.outage() === undefined,
    },
  ]
  for (const { name, help, isSet } of gauges) {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(isSet(await findReadiness()) ? 1 : 0)
      },
    })
  }
}
