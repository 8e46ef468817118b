import type { Sampler } from '@opentelemetry/sdk-trace'
import type { SamplerName } from './telemetry-settings.ts'

type Sdk = Pick<
  typeof import('@opentelemetry/sdk-trace'),
  'AlwaysOnSampler' | 'AlwaysOffSampler' | 'ParentBasedSampler' | 'TraceIdRatioBasedSampler'
>

/** The sampler of OTEL_TRACES_SAMPLER. All of them decide by the trace and its parent alone, so that processes decide alike. */
export function makeSampler(
  sdk: Sdk,
  { name, ratio }: { readonly name: SamplerName; readonly ratio: number },
): Sampler {
  const roots: Readonly<Record<string, () => Sampler>> = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  }
  const root = (roots[name.replace('parentbased_', '')] as () => Sampler)()
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root
}
