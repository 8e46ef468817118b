import { setTimeout as wait } from 'node:timers/promises'
import { OrderSink } from '../order-sink.ts'
import { Chance } from '../seeded-random.ts'
import { DatabaseCluster } from './database-cluster.ts'
import { disturbances } from './disturb.ts'
import { Keeper } from './keeper.ts'
import { type Ledger, Load } from './load.ts'
import { Service } from './service.ts'
import type { Outage } from './write-log.ts'

export interface FailoverOptions {
  /** How many disturbances: each kind in turn, in an order by the seed. */
  readonly times: number
  readonly seed: number
  /** All of them when left out. */
  readonly kinds?: readonly string[]
  readonly report?: (line: string) => void
}

interface Disturbance extends Outage {
  readonly kind: string
}

interface FailoverResult {
  readonly ledger: Ledger
  readonly disturbances: readonly Disturbance[]
  /** How often a process of the service ended and was started again. */
  readonly restarts: number
  /** How often a standby did not follow by itself and was made anew. */
  readonly rebuilt: number
}

/**
 * Users and a business at work on a service whose database fails over, again and again. Each time everything comes back without a
 * hand: the database has a primary and a standby, every process is ready, and writes succeed.
 */
export async function runFailover({
  times,
  seed,
  kinds = Object.keys(disturbances),
  report = () => undefined,
}: FailoverOptions): Promise<FailoverResult> {
  const chance = new Chance(seed)
  const keeper = await Keeper.start()
  const sink = await new OrderSink().start()
  let database: DatabaseCluster | undefined
  let service: Service | undefined
  try {
    database = await DatabaseCluster.start(keeper)
    service = await Service.start(keeper, database.url, sink.url)
    report('PostgreSQL on two nodes, etcd, HAProxy, 2 api and 2 worker processes and object storage run')
    const load = new Load(service.url, sink)
    await load.start()
    const seen: Disturbance[] = []
    for (const [number, kind] of chance.rounds(kinds, times).entries()) {
      await wait(1000 + chance.below(1000))
      report(`${kind} …`)
      const from = performance.now()
      await disturbances[kind]?.({ keeper, database, service, chance, number })
      await database.whenWhole()
      await service.whenReady()
      await load.whenWriting()
      const outage = load.measure(from)
      seen.push({ kind, ...outage })
      report(`${kind}: ${describeOutage(outage)}; ${load.describe()}`)
    }
    return {
      ledger: await load.settle(database),
      disturbances: seen,
      restarts: service.restarts,
      rebuilt: database.rebuilt,
    }
  } finally {
    await service?.end()
    await database?.end()
    await sink.end()
    await keeper.end()
  }
}

/** One line for each kind of disturbance. */
export function tabulate(seen: readonly Disturbance[]): string[] {
  const kinds = Map.groupBy(seen, ({ kind }) => kind)
  return [...kinds].map(([kind, all]) => `${kind} (${all.length}): ${all.map(describeOutage).join('; ')}`)
}

function describeOutage({ withoutWrites, untilAllSucceed }: Outage): string {
  return `${withoutWrites.toFixed(1)} s without writes, all succeed after ${untilAllSucceed.toFixed(1)} s`
}

/** What the ledger lacks of what was acknowledged; empty when nothing is lost. */
export function listLosses(ledger: Ledger): string[] {
  const { published, delivered, outOfOrder, sent, present, files, filesRead } = ledger
  return [
    ...(delivered === published ? [] : [`${published - delivered} events were not delivered`]),
    ...(outOfOrder === 0 ? [] : [`${outOfOrder} events came out of order`]),
    ...(present === sent ? [] : [`${sent - present} messages are not there exactly once`]),
    ...(filesRead === files ? [] : [`${files - filesRead} files are not whole`]),
  ]
}
