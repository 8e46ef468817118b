import { setTimeout as wait } from 'node:timers/promises'
import type { Attributes, Context, SpanKind } from '@opentelemetry/api'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import type { Random } from '../base/keys/random.ts'
import type { Log } from '../base/log/log.ts'
import type { RequestSpan, Spans, SpanTimes, TransactionSpan, TrySpan } from './spans.ts'

export interface ExportOptions {
  /** Where the collector is: `/v1/traces` comes behind it. */
  readonly endpoint: string
  readonly version: string
  readonly random: Random
  readonly log: Log
}

/** How many spans wait for the collector; what comes then is dropped. */
const maxWaiting = 8192
/** How often spans are sent. */
const batchMilliseconds = 1000
const timeoutMilliseconds = 5000
/** How long a stop waits for the collector. */
const closeTimeout = 1000
/** How many requests are known at once; a request that never ends must not cost memory for ever. */
const maxUnderWay = 10_000
const spanIdLength = 16
const traceparent = /^[\da-f]{2}-[\da-f]{32}-([\da-f]{16})-[\da-f]{2}$/

interface NewSpan extends SpanTimes {
  readonly name: string
  readonly id: string
  readonly parent: string | undefined
  readonly kind: SpanKind
  readonly attributes: Attributes
  /** What went wrong, if something did. */
  readonly error: string | undefined
}

/** Exports spans by the SDK of OpenTelemetry, which is loaded here: a server that exports nothing does without it. */
export async function exportSpans({ endpoint, version, random, log }: ExportOptions): Promise<Spans> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const { SpanKind, SpanStatusCode, TraceFlags, ROOT_CONTEXT, trace: tracing } = api
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const exporter = reportOutages(new OTLPTraceExporter({ url, timeoutMillis: timeoutMilliseconds }), url, log)
  // Spans get the ids that the service gave out already: in its headers, its log, and its webhooks.
  const next = { trace: '', id: '' }
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'switchboard', 'service.version': version }),
    sampler: new sdk.AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => next.trace, generateSpanId: () => next.id },
    spanProcessors: [
      new sdk.BatchSpanProcessor({ exporter, maxQueueSize: maxWaiting, scheduledDelayMillis: batchMilliseconds }),
    ],
  })
  const tracer = provider.getTracer('switchboard', version)
  const newId = () => random.trace().slice(0, spanIdLength)
  const underWay = new RequestIds(newId)

  const contextOf = (traceId: string, parent: string | undefined): Context =>
    parent === undefined
      ? ROOT_CONTEXT
      : tracing.setSpanContext(ROOT_CONTEXT, { traceId, spanId: parent, traceFlags: TraceFlags.SAMPLED })
  const add = ({ name, trace, id, parent, kind, start, milliseconds, attributes, error }: NewSpan): void => {
    next.trace = trace
    next.id = id
    const span = tracer.startSpan(name, { kind, attributes, startTime: start }, contextOf(trace, parent))
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
    span.end(start + milliseconds)
  }

  return {
    noteRequest(span) {
      const parent = traceparent.exec(span.traceparent ?? '')?.[1]
      const id = underWay.take(span.trace)
      const error = span.status >= 500 ? String(span.status) : undefined
      add({ ...span, name: span.operation, id, parent, kind: SpanKind.SERVER, attributes: describe(span), error })
    },
    noteTransaction(span) {
      const parent = underWay.read(span.trace)
      const error = span.hasFailed ? 'rolled back' : undefined
      const attributes = { 'db.system.name': nameOf(span) }
      add({ ...span, name: 'transaction', id: newId(), parent, kind: SpanKind.INTERNAL, attributes, error })
    },
    noteTry(span) {
      const sent = span.delivery.toString(spanIdLength).padStart(spanIdLength, '0')
      const isFirst = span.number === 1
      const ids = { id: isFirst ? sent : newId(), parent: isFirst ? undefined : sent }
      const attributes = describeTry(span)
      add({ ...span, ...ids, name: 'webhook', kind: SpanKind.CLIENT, attributes, error: span.problem })
    },
    async close() {
      const closed = provider.shutdown().catch(() => undefined)
      await Promise.race([closed, wait(closeTimeout, undefined, { ref: false })])
    },
  }
}

function describe({ operation, method, route, status, business, app }: RequestSpan): Attributes {
  return {
    'http.request.method': method,
    'http.response.status_code': status,
    'switchboard.operation': operation,
    ...(route !== undefined && { 'http.route': route }),
    ...(business !== undefined && { 'switchboard.business_id': business }),
    ...(app !== undefined && { 'switchboard.app_id': app }),
  }
}

/** The host alone: a callback may hold a secret in its path. */
function describeTry({ delivery, number, app, host, status }: TrySpan): Attributes {
  return {
    'server.address': host,
    'http.request.method': 'POST',
    'http.request.resend_count': number - 1,
    'switchboard.delivery_id': String(delivery),
    'switchboard.app_id': app,
    ...(status !== undefined && { 'http.response.status_code': status }),
  }
}

function nameOf({ product }: TransactionSpan): string {
  return product.startsWith('SQLite') ? 'sqlite' : 'postgresql'
}

/** The span ids of requests that are under way, by their trace: transactions end before the request that they belong to. */
class RequestIds {
  readonly #newId: () => string
  readonly #ids = new Map<string, string>()

  constructor(newId: () => string) {
    this.#newId = newId
  }

  read(trace: string): string {
    const known = this.#ids.get(trace)
    if (known !== undefined) return known
    if (this.#ids.size >= maxUnderWay) this.#ids.clear()
    const id = this.#newId()
    this.#ids.set(trace, id)
    return id
  }

  /** The id of a request that has ended. */
  take(trace: string): string {
    const id = this.#ids.get(trace)
    this.#ids.delete(trace)
    return id ?? this.#newId()
  }
}

/** Logs once that the collector is gone, and once that it is back. */
function reportOutages(exporter: SpanExporter, url: string, log: Log): SpanExporter {
  // Without credentials and query, which may be secrets.
  const { host } = new URL(url)
  let isDown = false
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== 0
        if (hasFailed && !isDown) log.warn({ host, err: result.error }, 'traces cannot be exported, and are dropped')
        if (!hasFailed && isDown) log.info({ host }, 'traces are exported again')
        isDown = hasFailed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}
