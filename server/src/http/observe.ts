import type { FastifyInstance, FastifyRequest } from 'fastify'
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
    if (logged?.business !== undefined) line += `,"business":${JSON.stringify(logged.business)}`
    if (logged?.app !== undefined) line += `,"app":${JSON.stringify(logged.app)}`
    if (logged?.node !== undefined) line += `,"node":${JSON.stringify(logged.node)}`
    if (logged?.err !== undefined) line += `,"err":${JSON.stringify(logged.err)}`
    this.#log.line(`${line},"trace":"${id}"`)
  }
}

/** Gives every answer of a scope's routes its trace, and notes each when it is sent. */
export function observeRequests(scope: FastifyInstance, observer: RequestObserver, traceHeader: string): void {
  scope.addHook('onRequest', (request, reply, done) => {
    reply.header(traceHeader, request.id)
    done()
  })
  scope.addHook('onResponse', (request, reply, done) => {
    observer.note(request, reply.statusCode, reply.elapsedTime)
    done()
  })
}
