import { setTimeout as wait } from 'node:timers/promises'
import type { Attributes, HrTime } from '@opentelemetry/api'
import type { DataPoint, MetricData } from '@opentelemetry/sdk-metrics'
import type { MetricObjectWithValues, MetricValue, MetricValueWithName, Registry } from 'prom-client'
import type { Log } from '../base/log/log.ts'
import { reportOutages } from './outages.ts'

export interface MetricsExportOptions {
  /** Where the collector takes metrics. */
  readonly url: string
  readonly version: string
  /** What the process says of itself. */
  readonly resource: Attributes
  /** The metrics: those of `/metrics`. */
  readonly registry: Pick<Registry, 'getMetricsAsJSON'>
  readonly intervalMs: number
  readonly log: Log
}

export interface MetricsExport {
  /** Sends the last values, within a time limit. */
  close(): Promise<void>
}

/** How long a stop waits for the collector. */
const closeTimeout = 1000

type Sdk = Pick<typeof import('@opentelemetry/sdk-metrics'), 'AggregationTemporality' | 'DataPointType'>
type Json = MetricObjectWithValues<MetricValue<string>>

/**
 * Exports the metrics of `/metrics` by the SDK of OpenTelemetry, which is loaded here. They are defined once, for Prometheus, and keep
 * their names: dashboards and alerts are the same whichever way they come.
 */
export async function exportMetrics(options: MetricsExportOptions): Promise<MetricsExport> {
  const { url, version, registry, intervalMs, log } = options
  const [{ ValueType }, sdk, { OTLPMetricExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/exporter-metrics-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const exporter = new OTLPMetricExporter({ url, temporalityPreference: sdk.AggregationTemporality.CUMULATIVE })
  reportOutages(exporter, 'metrics', url, log)
  const resource = resourceFromAttributes(options.resource)
  const startTime = toHrTime(Date.now() - process.uptime() * 1000)
  const producer = {
    async collect() {
      const endTime = toHrTime(Date.now())
      const all = (await registry.getMetricsAsJSON()) as unknown as readonly Json[]
      const metrics = all.flatMap((metric) => convertMetric(sdk, metric, ValueType.DOUBLE, { startTime, endTime }))
      return {
        resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'switchboard', version }, metrics }] },
        errors: [],
      }
    },
  }
  const reader = new sdk.PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: intervalMs,
    metricProducers: [producer],
  })
  const provider = new sdk.MeterProvider({ resource, readers: [reader] })
  return {
    async close() {
      const closed = provider.shutdown().catch(() => undefined)
      await Promise.race([closed, wait(closeTimeout, undefined, { ref: false })])
    },
  }
}

type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>

/** A metric of Prometheus as OpenTelemetry has it; none for a summary, of which there are none, or without a value. */
function convertMetric(
  { AggregationTemporality, DataPointType }: Sdk,
  { name, help, type, values }: Json,
  valueType: MetricData['descriptor']['valueType'],
  times: Times,
): MetricData[] {
  if (values.length === 0) return []
  const base = {
    descriptor: { name, description: help, unit: unitOf(name), valueType },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  // The library's types say numbers; what it returns are the names.
  switch (String(type)) {
    case 'gauge':
      return [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints: listPoints(values, times) }]
    case 'counter':
      return [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: listPoints(values, times) }]
    case 'histogram':
      return [{ ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: listHistograms(name, values, times) }]
    default:
      return []
  }
}

/** As the names of Prometheus say, in the words of UCUM. */
function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's'
  return /_bytes(_total)?$/.test(name) ? 'By' : ''
}

function listPoints(values: readonly MetricValue<string>[], times: Times): DataPoint<number>[] {
  return values.map(({ labels, value }) => ({ ...times, attributes: describeLabels(labels), value }))
}

type HistogramPoint = Extract<MetricData, { dataPoints: DataPoint<{ buckets: object }>[] }>['dataPoints'][number]

/** Prometheus counts what is below each bound, OpenTelemetry what is between two. */
function listHistograms(name: string, values: readonly MetricValue<string>[], times: Times): HistogramPoint[] {
  const series = Map.groupBy(values as readonly MetricValueWithName<string>[], ({ labels }) => {
    const { le: _, ...own } = labels as Record<string, unknown>
    return JSON.stringify(own)
  })
  return [...series.values()].map((ofSeries) => {
    const buckets = ofSeries.filter(({ metricName }) => metricName === `${name}_bucket`)
    const find = (ending: string) => ofSeries.find(({ metricName }) => metricName === `${name}_${ending}`)
    const total = find('count')
    return {
      ...times,
      attributes: describeLabels(total?.labels ?? {}),
      value: {
        buckets: {
          boundaries: buckets.map(({ labels }) => Number(labels['le'])).filter(Number.isFinite),
          counts: buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0)),
        },
        count: total?.value ?? 0,
        sum: find('sum')?.value ?? 0,
      },
    }
  })
}

function describeLabels(labels: Partial<Record<string, string | number>>): Attributes {
  return Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, String(value)]))
}

function toHrTime(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000)
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)]
}
