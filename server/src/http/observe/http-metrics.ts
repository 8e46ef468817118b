import { Counter, collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import { LeanHistogram, type Observe } from '../../telemetry/lean-histogram.ts'

/** The metrics served at /metrics. */
export class Metrics {
  readonly registry = new Registry()
  readonly #times: LeanHistogram<{ operation: string; status: number }>
  readonly #observers = new Map<string, Map<number, Observe>>()
  readonly #refusals: Counter<'limit'>

  constructor(limits: readonly string[] = []) {
    for (const metric of listOfProcess()) this.registry.registerMetric(metric)
    this.#times = new LeanHistogram(this.registry, {
      name: 'switchboard_request_duration_seconds',
      help: 'Time to answer a request, by operation and status.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    })
    this.#refusals = new Counter({
      name: 'switchboard_rate_limit_refusals_total',
      help: 'Requests that were refused because a rate limit was reached, by the limit.',
      labelNames: ['limit'],
      registers: [this.registry],
    })
    for (const limit of limits) this.#refusals.inc({ limit }, 0)
  }

  observeRequest(operation: string, status: number, seconds: number): void {
    const observe = this.#observers.get(operation)?.get(status) ?? this.#begin(operation, status)
    observe(seconds)
  }

  countRefusal(limit: string): void {
    this.#refusals.inc({ limit })
  }

  #begin(operation: string, status: number): Observe {
    const byStatus = this.#observers.get(operation) ?? new Map<number, Observe>()
    this.#observers.set(operation, byStatus)
    const observe = this.#times.series({ operation, status })
    byStatus.set(status, observe)
    return observe
  }
}

let ofProcess: Registry | undefined

/**
 * The metrics of the process, which are begun once in it: the library watches the event loop and the collector for them and never stops,
 * so an app that is closed would be kept, with a timer of its own.
 */
function listOfProcess(): readonly Metric[] {
  if (!ofProcess) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess.getMetricsAsArray() as unknown as readonly Metric[]
}
