import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../base/log/log.ts'
import { unmap } from '../../base/text/addresses.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Spans } from '../../telemetry/spans.ts'
import type { Metrics } from './http-metrics.ts'
import type { RequestLog } from './request-log.ts'
import { StrangerLines } from './stranger-lines.ts'
import type { TracedMessage } from './trace.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The name of the request in the log and the metrics. */
    operationName: string
    /** The caller and node in the log line. */
    logged: Logged | undefined
    /** What made the response a 500, where nothing else logs it. */
    fault: unknown
  }
}

/** A request without a route. Its headers could not be read, so the peer of its connection stands for the client. */
interface BrokenRequest {
  readonly trace: string
  readonly socket: Pick<Socket, 'remoteAddress'>
}

interface Logged {
  readonly business?: string
  readonly app?: string
  readonly node?: string | undefined
  /** The error, when the response does not say it. */
  readonly err?: string
}

/** Where requests are exported to; `clock` shows the real time. */
export interface RequestTracing {
  readonly spans: Spans
  readonly clock: Clock
}

export interface RequestObserverDeps {
  readonly log: Log
  readonly metrics: Metrics
  readonly requests?: RequestLog | undefined
  readonly tracing?: RequestTracing | undefined
  /** The client address of a request. */
  readonly addressOf: (request: IncomingMessage) => string
}

/** Reports every request to the operator: one line in the log, one count in the metrics. */
export class RequestObserver {
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #isLogged: boolean
  readonly #requests: RequestLog | undefined
  readonly #tracing: RequestTracing | undefined
  readonly #strangerLines: StrangerLines
  readonly #addressOf: RequestObserverDeps['addressOf']

  constructor({ log, metrics, requests, tracing, addressOf }: RequestObserverDeps) {
    this.#addressOf = addressOf
    this.#requests = requests
    this.#tracing = tracing
    this.#log = log
    this.#strangerLines = new StrangerLines(log)
    this.#metrics = metrics
    this.#isLogged = log.isLevelEnabled('info')
  }

  note(request: FastifyRequest, status: number, milliseconds: number): void {
    const { operationName, id } = request
    this.#metrics.observeRequest(operationName, status, milliseconds / 1000)
    this.#writeLine(request, status, milliseconds)
    try {
      this.#requests?.note(request, status, milliseconds)
      if (this.#tracing) exportRequest(this.#tracing, request, status, milliseconds)
    } catch (err) {
      // Here nobody would catch it: whoever sent the request would end the process.
      this.#log.error({ err, trace: id }, 'a request could not be kept')
    }
  }

  countRefusal(limit: string): void {
    this.#metrics.countRefusal(limit)
  }

  #writeLine(request: FastifyRequest, status: number, milliseconds: number): void {
    const { operationName: operation, method, logged, id, fault } = request
    if (fault !== undefined) {
      const remote_address = this.#findAddress(request)
      const ms = Math.round(milliseconds * 100) / 100
      this.#log.error(
        { operation, method, status, ms, ...logged, remote_address, err: fault, trace: id },
        'a request failed',
      )
      return
    }
    if (!this.#isLogged) return
    if (status >= 400 && logged?.app === undefined && !this.#strangerLines.take()) return
    // Written by hand, because logging is a good part of the cost of a read. Operation names, methods, ids of apps, businesses and
    // nodes, and traces contain nothing that JSON would escape.
    let line = `"operation":"${operation}","method":"${method}","status":${status},"ms":${writeHundredths(milliseconds)}`
    // Only the pattern of the path: callers may write anything into the path itself.
    if (this.#log.isPretty) line += `,"path":${JSON.stringify(request.routeOptions.url ?? 'no such path')}`
    if (logged?.business !== undefined) line += `,"business":"${logged.business}"`
    if (logged?.app !== undefined) line += `,"app":"${logged.app}"`
    if (logged?.node !== undefined) line += `,"node":"${logged.node}"`
    if (logged?.err !== undefined) line += `,"err":${JSON.stringify(logged.err)}`
    line += `,"remote_address":"${this.#findAddress(request)}","trace":"${id}"`
    this.#log.line(line)
  }

  /** Addresses are read, so that they contain nothing that JSON would escape either. */
  #findAddress({ graphRequest, raw }: FastifyRequest): string {
    return graphRequest?.remote_address ?? this.#addressOf(raw)
  }

  /** Logs a request that was refused before it reached a route. */
  noteBroken(status: number, reason: string, { trace, socket }: BrokenRequest): void {
    this.#metrics.observeRequest('unknown', status, 0)
    if (!this.#strangerLines.take()) return
    const from = `"remote_address":"${unmap(socket.remoteAddress ?? '')}","trace":"${trace}"`
    this.#log.line(`"operation":"unknown","status":${status},"ms":0,"err":${JSON.stringify(reason)},${from}`)
  }
}

function exportRequest(
  { spans, clock }: RequestTracing,
  { id, operationName, method, routeOptions, raw, logged }: FastifyRequest,
  status: number,
  milliseconds: number,
): void {
  const { span, parent } = raw as TracedMessage
  if (span === undefined) return
  spans.noteRequest({
    trace: id,
    start: clock.now() - milliseconds,
    milliseconds,
    operation: operationName || 'unknown',
    method,
    route: routeOptions.url,
    status,
    span,
    parent,
    business: logged?.business,
    app: logged?.app,
  })
}

/** With two digits behind the point: whole numbers are written far faster than others. */
function writeHundredths(value: number): string {
  const hundredths = Math.round(value * 100)
  const rest = hundredths % 100
  return `${(hundredths - rest) / 100}.${rest < 10 ? '0' : ''}${rest}`
}

/** Gives every response of a scope its trace, and logs each one when it is sent or can no longer be sent. */
export function observeRequests(scope: FastifyInstance, observer: RequestObserver, traceHeader: string): void {
  const note = (request: FastifyRequest, reply: FastifyReply) =>
    observer.note(request, reply.statusCode, reply.elapsedTime)
  scope.addHook('onRequest', (request, reply, done) => {
    reply.header(traceHeader, request.id)
    // Not with the hook `onResponse`, which does not run when the connection is gone.
    reply.raw.once('close', () => {
      if (reply.sent || reply.raw.headersSent) note(request, reply)
    })
    done()
  })
  scope.addHook('onSend', (request, reply, _payload, done) => {
    // The connection closed before there was a response.
    if (reply.raw.destroyed) note(request, reply)
    done()
  })
}
