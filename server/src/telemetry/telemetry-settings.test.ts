import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../config.ts'
import { describeResource, findEndpoints } from './telemetry-settings.ts'

const collector = 'http://127.0.0.1:4318'
const own = 'https://traces.example.com/in'

test('traces and metrics go where OTEL_EXPORTER_OTLP_… says, unless they are switched off', () => {
  const usual = { traces: `${collector}/v1/traces`, metrics: `${collector}/v1/metrics` }
  for (const [environment, expected] of [
    [{}, { traces: undefined, metrics: undefined }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: collector }, usual],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector}/` }, usual],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_SDK_DISABLED: 'true' },
      { traces: undefined, metrics: undefined },
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_TRACES_EXPORTER: 'none' },
      { ...usual, traces: undefined },
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_METRICS_EXPORTER: 'none' },
      { ...usual, metrics: undefined },
    ],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own }, { traces: own, metrics: undefined }],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: own },
      { ...usual, metrics: own },
    ],
  ] as const) {
    assert.deepEqual(findEndpoints(readConfig(environment)), expected, JSON.stringify(environment))
  }
})

test('the resource has the name that is set, and always the id of the process', () => {
  const self = { id: '00f067aa0ba902b7', role: 'api', version: '1.2.3' }
  const described = {
    'service.name': 'switchboard',
    'service.version': '1.2.3',
    'switchboard.role': 'api',
    'service.instance.id': self.id,
  }
  assert.deepEqual(describeResource(readConfig({}), self), described)
  const OTEL_RESOURCE_ATTRIBUTES = 'service.name=other,deployment.environment.name=staging,service.instance.id=mine'
  const given = { ...described, 'deployment.environment.name': 'staging' }
  assert.deepEqual(describeResource(readConfig({ OTEL_RESOURCE_ATTRIBUTES }), self), {
    ...given,
    'service.name': 'other',
  })
  const named = readConfig({ OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME: 'mine' })
  assert.deepEqual(describeResource(named, self), { ...given, 'service.name': 'mine' })
})

test('settings of OpenTelemetry that are wrong stop the start in one line', () => {
  for (const [name, value, expected] of [
    ['OTEL_TRACES_SAMPLER', 'sometimes', /^OTEL_TRACES_SAMPLER is "sometimes"; it must be one of always_on, /],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', /^OTEL_TRACES_SAMPLER_ARG is "1.5"; it must be a number from 0 to 1/],
    ['OTEL_TRACES_EXPORTER', 'zipkin', /^OTEL_TRACES_EXPORTER is "zipkin"; it must be one of otlp, none$/],
    ['OTEL_RESOURCE_ATTRIBUTES', 'staging', /^OTEL_RESOURCE_ATTRIBUTES is "staging"; it must be a list such as /],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=%E0%A4%A', /^OTEL_RESOURCE_ATTRIBUTES is "a=%E0%A4%A"; it must be a list /],
    ['OTEL_METRIC_EXPORT_INTERVAL', '10', /^OTEL_METRIC_EXPORT_INTERVAL is "10"; it must be an integer from 1000 /],
    [
      'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
      'ftp://x',
      /^OTEL_EXPORTER_OTLP_METRICS_ENDPOINT is "ftp:.*; it must be a URL /,
    ],
  ] as const) {
    assert.throws(() => readConfig({ [name]: value }), { message: expected })
  }
})
