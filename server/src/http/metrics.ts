import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** What the operator's machines read at /metrics. */
export class Metrics {
  readonly registry = new Registry()
  readonly #requests: Histogram<'operation' | 'status'>
  readonly #children = new Map<string, { observe(seconds: number): void }>()

  constructor() {
    collectDefaultMetrics({ register: this.registry })
    this.#requests = new Histogram({
      name: 'switchboard_request_duration_seconds',
      help: 'Time to answer a request, by operation and status.',
      labelNames: ['operation', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [this.registry],
    })
  }

  observeRequest(operation: string, status: number, seconds: number): void {
    // Finding a labelled child costs more than observing, so each is found once; operations × statuses are few.
    const key = `${operation} ${status}`
    let child = this.#children.get(key)
    if (!child) {
      child = this.#requests.labels(operation, String(status))
      this.#children.set(key, child)
    }
    child.observe(seconds)
  }
}
