import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'

/** Upper bounds in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

/** The metrics served at /metrics. */
export class Metrics {
  readonly registry = new Registry()
  readonly #requests = new RequestTimes()

  constructor() {
    for (const metric of listOfProcess()) this.registry.registerMetric(metric)
    // The registry needs only a name and values of a metric, but its type allows only the library's own classes.
    this.registry.registerMetric(this.#requests as never)
  }

  observeRequest(operation: string, status: number, seconds: number): void {
    this.#requests.observe(operation, status, seconds)
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

interface Times {
  readonly labels: { readonly operation: string; readonly status: number }
  /** Observations per bucket, not cumulative; the last is above all bounds. */
  readonly counts: number[]
  sum: number
}

/**
 * A histogram that is cheap to observe, because every request observes and scrapes are rare: the library's own builds a text key
 * from the labels each time.
 */
class RequestTimes {
  readonly name = 'switchboard_request_duration_seconds'
  readonly help = 'Time to answer a request, by operation and status.'
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #times = new Map<string, Map<number, Times>>()

  observe(operation: string, status: number, seconds: number): void {
    const times = this.#times.get(operation)?.get(status) ?? this.#begin(operation, status)
    let bucket = 0
    while (bucket < buckets.length && seconds > (buckets[bucket] as number)) bucket += 1
    times.counts[bucket] = (times.counts[bucket] as number) + 1
    times.sum += seconds
  }

  async get() {
    const { name, help, type, aggregator } = this
    const all = [...this.#times.values()].flatMap((byStatus) => [...byStatus.values()])
    return { name, help, type, aggregator, values: all.flatMap((times) => this.#write(times)) }
  }

  reset(): void {
    this.#times.clear()
  }

  #begin(operation: string, status: number): Times {
    const byStatus = this.#times.get(operation) ?? new Map<number, Times>()
    this.#times.set(operation, byStatus)
    const times = { labels: { operation, status }, counts: new Array(buckets.length + 1).fill(0), sum: 0 }
    byStatus.set(status, times)
    return times
  }

  #write({ labels, counts, sum }: Times): object[] {
    let total = 0
    const lines = [...buckets, '+Inf'].map((le, index) => {
      total += counts[index] as number
      return { metricName: `${this.name}_bucket`, labels: { ...labels, le }, value: total }
    })
    return [
      ...lines,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: total },
    ]
  }
}
