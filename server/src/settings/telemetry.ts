import { attributeList, collectorUrl, flag, integer, oneOf, share } from '../base/setting-parsers.ts'
import { day, minute, second } from '../base/time/duration.ts'
import { type ExporterName, exporterNames, type SamplerName, samplerNames } from '../telemetry/telemetry-settings.ts'
import { define } from './setting.ts'

/** What is exported to an OpenTelemetry collector, by the names and rules of its specification. */
export const telemetrySettings = {
  otlpEndpoint: define<string | undefined>({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    group: 'process',
    shownDefault: 'unset: nothing is exported',
    sentence:
      'The OpenTelemetry collector that traces and metrics are sent to by OTLP over HTTP, such as http://127.0.0.1:4318, without credentials or a query: keys for it go into OTEL_EXPORTER_OTLP_HEADERS.',
    parse: collectorUrl,
    fallback: () => undefined,
  }),
  otlpTracesEndpoint: define<string | undefined>({
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    group: 'process',
    shownDefault: 'OTEL_EXPORTER_OTLP_ENDPOINT, with /v1/traces behind it',
    sentence: 'The address that traces alone are sent to, as it is, such as http://127.0.0.1:4318/v1/traces.',
    parse: collectorUrl,
    fallback: () => undefined,
  }),
  otlpMetricsEndpoint: define<string | undefined>({
    name: 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
    group: 'process',
    shownDefault: 'OTEL_EXPORTER_OTLP_ENDPOINT, with /v1/metrics behind it',
    sentence: 'The address that metrics alone are sent to, as it is, such as http://127.0.0.1:4318/v1/metrics.',
    parse: collectorUrl,
    fallback: () => undefined,
  }),
  otelDisabled: define({
    name: 'OTEL_SDK_DISABLED',
    group: 'process',
    shownDefault: 'false',
    sentence: 'Whether nothing is exported, whatever the other settings of OpenTelemetry say.',
    parse: flag,
    fallback: () => false,
  }),
  otelTracesExporter: define<ExporterName>({
    name: 'OTEL_TRACES_EXPORTER',
    group: 'process',
    shownDefault: 'otlp',
    sentence: 'Whether traces are exported to the collector (otlp) or not (none).',
    parse: oneOf(exporterNames),
    fallback: () => 'otlp',
  }),
  otelMetricsExporter: define<ExporterName>({
    name: 'OTEL_METRICS_EXPORTER',
    group: 'process',
    shownDefault: 'otlp',
    sentence: 'Whether metrics are exported to the collector (otlp) or not (none); GET /metrics is there in any case.',
    parse: oneOf(exporterNames),
    fallback: () => 'otlp',
  }),
  otelTracesSampler: define<SamplerName>({
    name: 'OTEL_TRACES_SAMPLER',
    group: 'process',
    shownDefault: 'parentbased_always_on',
    sentence: `Which traces are exported: ${samplerNames.join(', ')}. With parentbased the caller decides in its traceparent, if it sends one.`,
    parse: oneOf(samplerNames),
    fallback: () => 'parentbased_always_on',
  }),
  otelTracesSamplerArg: define({
    name: 'OTEL_TRACES_SAMPLER_ARG',
    group: 'process',
    shownDefault: '1',
    sentence: 'The share of traces that the samplers with traceidratio take, from 0 to 1.',
    parse: share,
    fallback: () => 1,
  }),
  otelMetricExportInterval: define({
    name: 'OTEL_METRIC_EXPORT_INTERVAL',
    group: 'process',
    shownDefault: '60000',
    sentence: 'How often metrics are exported, in milliseconds.',
    parse: integer(second, day),
    fallback: () => minute,
  }),
  otelServiceName: define<string | undefined>({
    name: 'OTEL_SERVICE_NAME',
    group: 'process',
    shownDefault: 'switchboard',
    sentence: 'The name of the service in exported traces and metrics.',
    parse: (text) => text,
    fallback: () => undefined,
  }),
  otelResourceAttributes: define<Readonly<Record<string, string>>>({
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    group: 'process',
    shownDefault: 'unset',
    sentence:
      'More attributes of the service in exported traces and metrics, such as deployment.environment.name=staging,service.namespace=messaging.',
    parse: attributeList,
    fallback: () => ({}),
  }),
}
