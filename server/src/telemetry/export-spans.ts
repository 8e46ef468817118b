import { setTimeout as wait } from 'node:timers/promises'
import type { Attributes, Context, Link, SpanKind } from '@opentelemetry/api'
import type { Random } from '../base/keys/random.ts'
import type { Log } from '../base/log/log.ts'
import { reportOutages } from './outages.ts'
import { makeSampler } from './sampler.ts'
import { cutSpanId, nameSpan, readSpan, type SpanRef, writeSpan } from './span-ids.ts'
import type { RequestSpan, Spans, SpanTimes, TransactionSpan, TrySpan } from './spans.ts'
import type { SamplerName } from './telemetry-settings.ts'

export interface ExportOptions {
  /** Where the collector takes traces. */
  readonly url: string
  readonly version: string
  /** What the process says of itself. */
  readonly resource: Attributes
  readonly sampler: { readonly name: SamplerName; readonly ratio: number }
  /** What clients call, if it is known. */
  readonly publicUrl: string | undefined
  readonly random: Random
  readonly log: Log
}

/** How many spans wait for the collector; what comes then is dropped. */
const maxWaiting = 8192
/** How often spans are sent. */
const batchMilliseconds = 1000
/** How long a stop waits for the collector. */
const closeTimeout = 1000

interface NewSpan extends SpanTimes {
  readonly name: string
  readonly id: string
  readonly parent: SpanRef | undefined
  readonly kind: SpanKind
  readonly attributes: Attributes
  /** What went wrong, if something did. */
  readonly error: string | undefined
  /** A span of the same trace that it repeats. */
  readonly repeated?: string | undefined
}

/** Exports spans by the SDK of OpenTelemetry, which is loaded here: a server that exports nothing does without it. */
export async function exportSpans(options: ExportOptions): Promise<Spans> {
  const { url, version, resource, random, log, publicUrl } = options
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const { SpanKind, SpanStatusCode, TraceFlags, ROOT_CONTEXT, trace: tracing } = api
  const exporter = new OTLPTraceExporter({ url })
  reportOutages(exporter, 'traces', url, log)
  // Spans get the ids that the service gave out already: in its headers, its log, and its webhooks.
  const next = { trace: '', id: '' }
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes(resource),
    // What is not sampled does not come this far.
    sampler: new sdk.AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => next.trace, generateSpanId: () => next.id },
    spanProcessors: [
      new sdk.BatchSpanProcessor({ exporter, maxQueueSize: maxWaiting, scheduledDelayMillis: batchMilliseconds }),
    ],
  })
  const tracer = provider.getTracer('switchboard', version)
  const sampler = makeSampler(sdk, options.sampler)
  const newId = () => cutSpanId(random.trace())
  const server = describeServer(publicUrl)

  const contextOf = (traceId: string, parent: SpanRef | undefined): Context => {
    if (parent === undefined) return ROOT_CONTEXT
    const traceFlags = parent.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
    // The process that began it may be another one.
    return tracing.setSpanContext(ROOT_CONTEXT, { traceId, spanId: parent.id, traceFlags, isRemote: true })
  }
  const decide = (trace: string, parent: SpanRef | undefined): boolean =>
    sampler.shouldSample(contextOf(trace, parent), trace, '', SpanKind.INTERNAL, {}, []).decision ===
    sdk.SamplingDecision.RECORD_AND_SAMPLED
  const add = (span: NewSpan): void => {
    const { name, trace, id, parent, kind, start, milliseconds, attributes, error, repeated } = span
    next.trace = trace
    next.id = id
    const links: Link[] =
      repeated === undefined ? [] : [{ context: { traceId: trace, spanId: repeated, traceFlags: TraceFlags.SAMPLED } }]
    const added = tracer.startSpan(name, { kind, attributes, links, startTime: start }, contextOf(trace, parent))
    if (error !== undefined) added.setStatus({ code: SpanStatusCode.ERROR, message: error })
    added.end(start + milliseconds)
  }

  return {
    begin: (trace, parent) => writeSpan({ id: newId(), isSampled: decide(trace, parent) }),
    noteRequest(span) {
      const { id, isSampled } = readSpan(span.span)
      if (!isSampled) return
      const { method, route, status } = span
      const name = route === undefined ? method : `${method} ${route}`
      const error = status >= 500 ? String(status) : undefined
      const attributes = { ...server, ...describeRequest(span) }
      add({ ...span, name, id, kind: SpanKind.SERVER, attributes, error })
    },
    noteTransaction(span) {
      const parent = span.span === undefined ? undefined : readSpan(span.span)
      if (!decide(span.trace, parent)) return
      const error = span.hasFailed ? 'rolled back' : undefined
      const kind = isEmbedded(span) ? SpanKind.INTERNAL : SpanKind.CLIENT
      add({ ...span, name: 'transaction', id: newId(), parent, kind, attributes: describeTransaction(span), error })
    },
    noteTry(span) {
      const parent = span.span === null ? undefined : readSpan(span.span)
      if (!decide(span.trace, parent)) return
      // Subscribers hang what they do below the first, whichever try they took.
      const first = nameSpan(span.delivery)
      const isFirst = span.number === 1
      const ids = isFirst ? { id: first } : { id: newId(), repeated: first }
      add({
        ...span,
        ...ids,
        parent,
        name: 'POST webhook',
        kind: SpanKind.CLIENT,
        attributes: describeTry(span),
        error: span.problem,
      })
    },
    async close() {
      const closed = provider.shutdown().catch(() => undefined)
      await Promise.race([closed, wait(closeTimeout, undefined, { ref: false })])
    },
  }
}

function describeServer(publicUrl: string | undefined): Attributes {
  return publicUrl === undefined ? { 'url.scheme': 'http' } : describeUrl(publicUrl)
}

/** Its host alone: a callback may hold a secret in its path. */
function describeUrl(text: string): Attributes {
  const { protocol, hostname, port } = new URL(text)
  const scheme = protocol.slice(0, -1)
  const usualPort = scheme === 'https' ? 443 : 80
  return {
    'url.scheme': scheme,
    'server.address': hostname.replaceAll(/[[\]]/g, ''),
    'server.port': port === '' ? usualPort : Number(port),
  }
}

function describeRequest({ operation, method, route, status, business, app }: RequestSpan): Attributes {
  return {
    'http.request.method': method,
    'http.response.status_code': status,
    'switchboard.operation': operation,
    ...(status >= 500 && { 'error.type': String(status) }),
    ...(route !== undefined && { 'http.route': route }),
    ...(business !== undefined && { 'switchboard.business_id': business }),
    ...(app !== undefined && { 'switchboard.app_id': app }),
  }
}

function isEmbedded({ product }: TransactionSpan): boolean {
  return product.startsWith('SQLite')
}

function describeTransaction(span: TransactionSpan): Attributes {
  return {
    'db.system.name': isEmbedded(span) ? 'sqlite' : 'postgresql',
    'db.operation.name': 'transaction',
    ...(span.hasFailed && { 'error.type': '_OTHER' }),
  }
}

function describeTry({ delivery, number, app, url, status, problem, isSilent }: TrySpan): Attributes {
  const errorType = status === undefined ? (isSilent ? 'timeout' : '_OTHER') : String(status)
  return {
    ...describeUrl(url),
    'http.request.method': 'POST',
    ...(number > 1 && { 'http.request.resend_count': number - 1 }),
    'switchboard.delivery_id': String(delivery),
    'switchboard.app_id': app,
    ...(status !== undefined && { 'http.response.status_code': status }),
    ...(problem !== undefined && { 'error.type': errorType }),
  }
}
