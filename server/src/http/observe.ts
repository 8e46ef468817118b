import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../base/log.ts'
import type { Metrics } from './metrics.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the log line and the metrics call the request. */
    operationName: string
    /** Who and what the log line names. */
    logged: Logged | undefined
  }
}

export interface Logged {
  readonly business?: string
  readonly app?: string
  readonly node?: string | undefined
  /** What went wrong, where the answer does not say it. */
  readonly err?: string
}

/** Tells the operator of every request: one line in the log, one count in the metrics. */
export class RequestObserver {
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #isLogged: boolean

  constructor(log: Log, metrics: Metrics) {
    this.#log = log
    this.#metrics = metrics
    this.#isLogged = log.isLevelEnabled('info')
  }

  note(request: FastifyRequest, status: number, milliseconds: number): void {
    const { operationName, method, logged, id } = request
    this.#metrics.observeRequest(operationName, status, milliseconds / 1000)
    if (!this.#isLogged) return
    // Written by hand, because the line of every request is a good part of what a read costs. Names of operations and methods
    // and traces hold nothing that JSON would escape.
    let line = `"operation":"${operationName}","method":"${method}","status":${status},"ms":${Math.round(milliseconds * 100) / 100}`
    // Of a path only its pattern: what callers write into it may be anything.
    if (this.#log.isPretty) line += `,"path":${JSON.stringify(request.routeOptions.url ?? 'no such path')}`
    if (logged?.business !== undefined) line += `,"business":${JSON.stringify(logged.business)}`
    if (logged?.app !== undefined) line += `,"app":${JSON.stringify(logged.app)}`
    if (logged?.node !== undefined) line += `,"node":${JSON.stringify(logged.node)}`
    if (logged?.err !== undefined) line += `,"err":${JSON.stringify(logged.err)}`
    this.#log.line(`${line},"trace":"${id}"`)
  }

  /** Notes what was refused before it could become a request of any route. */
  noteBroken(status: number, reason: string, trace: string): void {
    this.#metrics.observeRequest('unknown', status, 0)
    this.#log.line(`"operation":"unknown","status":${status},"ms":0,"err":${JSON.stringify(reason)},"trace":"${trace}"`)
  }
}

/** Gives every answer of a scope's routes its trace, and notes each when it is sent or cannot be sent any more. */
export function observeRequests(scope: FastifyInstance, observer: RequestObserver, traceHeader: string): void {
  const note = (request: FastifyRequest, reply: FastifyReply) =>
    observer.note(request, reply.statusCode, reply.elapsedTime)
  scope.addHook('onRequest', (request, reply, done) => {
    reply.header(traceHeader, request.id)
    // Not with the hook `onResponse`, which never comes for an answer whose connection is gone.
    reply.raw.once('close', () => {
      if (reply.sent || reply.raw.headersSent) note(request, reply)
    })
    done()
  })
  scope.addHook('onSend', (request, reply, _payload, done) => {
    // Gone before it was known what to answer.
    if (reply.raw.destroyed) note(request, reply)
    done()
  })
}
