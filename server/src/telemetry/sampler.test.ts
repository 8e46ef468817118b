import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api'
import * as sdk from '@opentelemetry/sdk-trace'
import { makeSampler } from './sampler.ts'
import { type SamplerName, samplerNames } from './telemetry-settings.ts'

const traces = Array.from({ length: 1000 }, (_, index) => ((index * 4_294_967) >>> 0).toString(16).padStart(32, '1'))

/** How many of a thousand traces are sampled: without a caller, and with one that does not sample or does. */
function count(name: SamplerName, traceFlags?: number): number {
  const sampler = makeSampler(sdk, { name, ratio: 0.25 })
  return traces.filter((traceId) => {
    const parent = { traceId, spanId: '00f067aa0ba902b7', traceFlags: traceFlags ?? 0, isRemote: true }
    const context = traceFlags === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
    const { decision } = sampler.shouldSample(context, traceId, '', SpanKind.SERVER, {}, [])
    return decision === sdk.SamplingDecision.RECORD_AND_SAMPLED
  }).length
}

test('samplers go by the share, by the caller, or by both, as OTEL_TRACES_SAMPLER says', () => {
  const quarter = count('traceidratio')
  assert.ok(quarter > 200 && quarter < 300, String(quarter))
  assert.deepEqual(
    samplerNames.map((name) => [name, count(name), count(name, 0), count(name, 1)]),
    [
      ['always_on', 1000, 1000, 1000],
      ['always_off', 0, 0, 0],
      ['traceidratio', quarter, quarter, quarter],
      ['parentbased_always_on', 1000, 0, 1000],
      ['parentbased_always_off', 0, 0, 1000],
      ['parentbased_traceidratio', quarter, 0, 1000],
    ],
  )
})
