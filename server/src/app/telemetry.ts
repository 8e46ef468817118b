import type { Registry } from 'prom-client'
import type { Random } from '../base/keys/random.ts'
import type { Log } from '../base/log/log.ts'
import type { Config } from '../config.ts'
import { exportMetrics, type MetricsExport } from '../telemetry/export-metrics.ts'
import { exportSpans } from '../telemetry/export-spans.ts'
import type { Spans } from '../telemetry/spans.ts'
import { type DescribedProcess, describeResource, findEndpoints } from '../telemetry/telemetry-settings.ts'

interface TelemetryDeps {
  readonly self: DescribedProcess
  readonly log: Log
}

/** Undefined where traces are not exported. */
export async function openSpans(
  config: Config,
  { self, random, log }: TelemetryDeps & { readonly random: Random },
): Promise<Spans | undefined> {
  const { traces } = findEndpoints(config)
  if (traces === undefined) return undefined
  return exportSpans({
    url: traces,
    version: self.version,
    resource: describeResource(config, self),
    sampler: { name: config.otelTracesSampler, ratio: config.otelTracesSamplerArg },
    publicUrl: config.publicUrl,
    random,
    log,
  })
}

/** Undefined where metrics are not exported. */
export async function openMetricsExport(
  config: Config,
  { self, registry, log }: TelemetryDeps & { readonly registry: Registry },
): Promise<MetricsExport | undefined> {
  const { metrics } = findEndpoints(config)
  if (metrics === undefined) return undefined
  return exportMetrics({
    url: metrics,
    version: self.version,
    resource: describeResource(config, self),
    registry,
    intervalMs: config.otelMetricExportInterval,
    log,
  })
}
