import type { FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { GraphError } from '../graph/graph-error.ts'
import type { LoggedRequest } from '../graph/ports.ts'
import type { Feed } from '../stream/feed.ts'
import { blotHeaders, blotText, blotUrl } from './blot.ts'
import { keptBodyBytes, keptBodyOf } from './kept-body.ts'

export interface RequestLogOptions {
  readonly clock: Clock
  /** How many are kept of each door; 0: none. */
  readonly size: number
  /** Whether headers and bodies are kept too, for a place to try things out. */
  readonly keepsBodies: boolean
  readonly feed: Feed
  /** Names this process in ids. */
  readonly process: string
}

/** The last requests of this process, door by door, for operators. */
export class RequestLog {
  readonly keepsBodies: boolean
  readonly #options: RequestLogOptions
  readonly #byDoor = new Map<string, (LoggedRequest | undefined)[]>()
  #count = 0

  constructor(options: RequestLogOptions) {
    this.#options = options
    this.keepsBodies = options.keepsBodies && options.size > 0
  }

  note(request: FastifyRequest, status: number, milliseconds: number): void {
    const { size, feed } = this.#options
    if (size === 0) return
    const entry = this.#describe(request, status, milliseconds)
    const ring = this.#byDoor.get(entry.door) ?? []
    if (ring.length === 0) this.#byDoor.set(entry.door, ring)
    ring.push(entry)
    // Cut now and then, which costs less than to move all at every request.
    if (ring.length >= 2 * size) ring.splice(0, ring.length - size)
    if (feed.isOn) feed.publish(happeningOf(entry))
  }

  /** The newest first. */
  list(): LoggedRequest[] {
    const rings = [...this.#byDoor.values()].map((ring) => ring.slice(-this.#options.size))
    return rings
      .flat()
      .filter((one) => one !== undefined)
      .sort((a, b) => b.number - a.number)
  }

  #describe(request: FastifyRequest, status: number, milliseconds: number): LoggedRequest {
    const { clock, process } = this.#options
    const { logged, admission } = request
    const number = ++this.#count
    return {
      id: `request-${process.slice(0, 8)}-${number}`,
      number,
      time: clock.now(),
      door: request.door ?? 'unknown',
      operation: request.operationName || 'unknown',
      method: request.method,
      url: blotUrl(request.originalUrl),
      status,
      error: status < 400 ? null : explain(request.failure),
      milliseconds: Math.round(milliseconds * 100) / 100,
      business_id: logged?.business ?? null,
      app_id: logged?.app ?? null,
      node_id: logged?.node ?? null,
      account_id: admission?.node?.account_id ?? null,
      remote_address: request.graphRequest?.remote_address ?? null,
      trace: request.id,
      ...(this.keepsBodies && describeContent(request)),
    }
  }
}

function explain(failure: unknown): LoggedRequest['error'] {
  if (!(failure instanceof GraphError)) return null
  return { code: failure.code, message: failure.message }
}

function describeContent(request: FastifyRequest) {
  const body = keptBodyOf(request.raw)
  return {
    request_headers: blotHeaders(request.raw.headers),
    request_body: body === undefined ? null : blotText(body.toString('utf8')),
    response_body: request.answered === undefined ? null : blotText(request.answered.slice(0, keptBodyBytes)),
  }
}

export function happeningOf(entry: LoggedRequest) {
  const { id, time, business_id, account_id, trace, number: _, ...data } = entry
  const number = data.node_id !== null && /^4/.test(data.node_id) ? data.node_id : null
  return { id, type: 'request' as const, time, business_id, account_id, phone_number_id: number, trace, data }
}
