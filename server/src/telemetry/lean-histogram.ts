import type { Registry } from 'prom-client'

interface Times<Labels> {
  readonly labels: Labels
  /** Observations per bucket, not cumulative; the last is above all bounds. */
  readonly counts: number[]
  sum: number
}

export interface HistogramOptions {
  readonly name: string
  readonly help: string
  /** Upper bounds. */
  readonly buckets: readonly number[]
}

/** Observes the values of one set of labels. */
export type Observe = (value: number) => void

/**
 * A histogram that is cheap to observe, because every request and post observes and scrapes are rare: the library's own builds a text
 * key from the labels each time. Here whoever observes keeps what `series` returned.
 */
export class LeanHistogram<Labels extends Readonly<Record<string, string | number>>> {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #buckets: readonly number[]
  #series: Times<Labels>[] = []

  constructor(registry: Registry, { name, help, buckets }: HistogramOptions) {
    this.name = name
    this.help = help
    this.#buckets = buckets
    // The registry needs only a name and values of a metric, but its type allows only the library's own classes.
    registry.registerMetric(this as never)
  }

  /** The series of some labels, which nobody has begun yet. */
  series(labels: Labels): Observe {
    const bounds = this.#buckets
    const times = { labels, counts: new Array(bounds.length + 1).fill(0), sum: 0 }
    this.#series.push(times)
    return (value) => {
      let bucket = 0
      while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1
      times.counts[bucket] = (times.counts[bucket] as number) + 1
      times.sum += value
    }
  }

  async get() {
    const { name, help, type, aggregator } = this
    return { name, help, type, aggregator, values: this.#series.flatMap((times) => this.#write(times)) }
  }

  reset(): void {
    for (const times of this.#series) {
      times.counts.fill(0)
      times.sum = 0
    }
  }

  #write({ labels, counts, sum }: Times<Labels>): object[] {
    let total = 0
    const lines = [...this.#buckets, '+Inf'].map((le, index) => {
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
