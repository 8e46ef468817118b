import { systemRandom } from '../../src/base/keys/random.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { DeliveryMetrics } from '../../src/delivery/worker/delivery-metrics.ts'
import { DeliveryWorker, type WorkerDeps } from '../../src/delivery/worker/worker.ts'
import { Egress } from '../../src/egress/egress.ts'
import { resolveBySystem } from '../../src/egress/resolve.ts'
import { chooseVocabulary } from '../../src/graph/vocabulary.ts'
import { Metrics } from '../../src/http/observe/http-metrics.ts'
import type { TestServer } from './server.ts'

/** The default of `WEBHOOK_LEASE`. */
export const usualLease = 10_000

/** The worker of another process on the store of a server. The test stops it. */
export function makeDeliveryWorker(
  { database, clock }: TestServer,
  { timeout, ...given }: Partial<WorkerDeps> & { readonly timeout: number },
): { worker: DeliveryWorker; egress: Egress } {
  const egress = new Egress({ allowInternal: true, timeout, resolve: resolveBySystem, clock, userAgent: 'worker' })
  const worker = new DeliveryWorker({
    database,
    clock,
    leaseClock: clock,
    toRealTime: (time) => time,
    random: systemRandom,
    log: silentLog,
    egress,
    vocabulary: chooseVocabulary('msgapp'),
    lease: usualLease,
    concurrency: 32,
    batch: 1,
    rules: { delays: [5000], giveUpAfter: 86_400_000 },
    metrics: new DeliveryMetrics(new Metrics().registry, database, clock),
    ...given,
  })
  return { worker, egress }
}
