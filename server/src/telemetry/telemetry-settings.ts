export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type SamplerName = (typeof samplerNames)[number]

export const exporterNames = ['otlp', 'none'] as const
export type ExporterName = (typeof exporterNames)[number]

/** The settings of OpenTelemetry that the service reads itself; the SDK reads those of its exporters, such as OTEL_EXPORTER_OTLP_HEADERS. */
export interface TelemetrySettings {
  readonly otelDisabled: boolean
  readonly otelServiceName: string | undefined
  readonly otelResourceAttributes: Readonly<Record<string, string>>
  readonly otlpEndpoint: string | undefined
  readonly otlpTracesEndpoint: string | undefined
  readonly otlpMetricsEndpoint: string | undefined
  readonly otelTracesExporter: ExporterName
  readonly otelMetricsExporter: ExporterName
  readonly otelTracesSampler: SamplerName
  /** The share that `traceidratio` samples. */
  readonly otelTracesSamplerArg: number
  /** Milliseconds. */
  readonly otelMetricExportInterval: number
}

/** Where traces and metrics are sent; undefined: nowhere. */
export function findEndpoints(settings: TelemetrySettings): {
  readonly traces: string | undefined
  readonly metrics: string | undefined
} {
  const { otelDisabled, otlpEndpoint, otlpTracesEndpoint, otlpMetricsEndpoint } = settings
  const { otelTracesExporter, otelMetricsExporter } = settings
  const find = (exporter: ExporterName, own: string | undefined, path: string) => {
    if (otelDisabled || exporter === 'none') return undefined
    return own ?? (otlpEndpoint && `${otlpEndpoint.replace(/\/$/, '')}${path}`)
  }
  return {
    traces: find(otelTracesExporter, otlpTracesEndpoint, '/v1/traces'),
    metrics: find(otelMetricsExporter, otlpMetricsEndpoint, '/v1/metrics'),
  }
}

/** What the service says of itself to a collector. */
export interface DescribedProcess {
  readonly id: string
  readonly role: string
  readonly version: string
}

/** What is set wins, besides the id: it leads to the log and to /operator/state. */
export function describeResource(
  { otelServiceName, otelResourceAttributes }: TelemetrySettings,
  { id, role, version }: DescribedProcess,
): Record<string, string> {
  return {
    'service.name': 'switchboard',
    'service.version': version,
    'switchboard.role': role,
    ...otelResourceAttributes,
    ...(otelServiceName !== undefined && { 'service.name': otelServiceName }),
    'service.instance.id': id,
  }
}
