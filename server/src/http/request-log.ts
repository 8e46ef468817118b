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
  /** The door of an operation, by its name in the log. */
  readonly doorOf: (operation: string) => string
  /** Names this process in ids. */
  readonly process: string
}

/** What is known of a request, as it is: most are never looked at, so it is described only when it is. */
class Kept {
  readonly number: number
  readonly time: number
  readonly status: number
  readonly milliseconds: number
  readonly operation: string
  readonly method: string
  /** Undefined outside a sandbox: paths hold the numbers of users. */
  readonly url: string | undefined
  readonly logged: FastifyRequest['logged']
  readonly account_id: string | null
  readonly remote_address: string | null
  readonly trace: string
  readonly failure: unknown
  /** Names and values in turn; undefined outside a sandbox. */
  readonly rawHeaders: readonly string[] | undefined
  readonly body: Buffer | undefined
  readonly answered: string | undefined

  constructor(
    number: number,
    time: number,
    status: number,
    milliseconds: number,
    request: FastifyRequest,
    isWhole: boolean,
  ) {
    const { raw, admission } = request
    this.number = number
    this.time = time
    this.status = status
    this.milliseconds = milliseconds
    this.operation = request.operationName
    this.method = request.method
    this.url = isWhole ? request.originalUrl : undefined
    this.logged = request.logged
    this.account_id = admission?.node?.account_id ?? null
    this.remote_address = request.graphRequest?.remote_address ?? null
    this.trace = request.id
    this.failure = status < 400 ? undefined : request.failure
    this.rawHeaders = isWhole ? raw.rawHeaders : undefined
    this.body = isWhole ? keptBodyOf(raw) : undefined
    this.answered = isWhole ? request.answered : undefined
  }
}

interface Ring {
  readonly door: string
  readonly kept: Kept[]
  /** Where the next one goes. */
  next: number
}

/** The last requests of this process, door by door, for operators. */
export class RequestLog {
  readonly keepsBodies: boolean
  readonly #options: RequestLogOptions
  readonly #byDoor = new Map<string, Ring>()
  readonly #byOperation = new Map<string, Ring>()
  #count = 0

  constructor(options: RequestLogOptions) {
    this.#options = options
    this.keepsBodies = options.keepsBodies && options.size > 0
  }

  note(request: FastifyRequest, status: number, milliseconds: number): void {
    const { size, feed, clock } = this.#options
    if (size === 0) return
    const kept = new Kept(++this.#count, clock.now(), status, milliseconds, request, this.keepsBodies)
    const ring = this.#byOperation.get(kept.operation) ?? this.#findRing(kept.operation)
    // In turn, over the oldest.
    ring.kept[ring.next] = kept
    ring.next = ring.next + 1 === size ? 0 : ring.next + 1
    if (feed.isHeard) feed.publish(happeningOf(this.#describe(ring.door, kept)))
  }

  /** The newest first. */
  list(): LoggedRequest[] {
    const rings = [...this.#byDoor.values()]
    const all = rings.flatMap(({ door, kept }) => kept.map((one) => this.#describe(door, one)))
    return all.sort((a, b) => b.number - a.number)
  }

  #findRing(operation: string): Ring {
    const door = this.#options.doorOf(operation)
    const ring = this.#byDoor.get(door) ?? { door, kept: [], next: 0 }
    this.#byDoor.set(door, ring)
    this.#byOperation.set(operation, ring)
    return ring
  }

  #describe(door: string, kept: Kept): LoggedRequest {
    const { number, time, method, status, account_id, remote_address, trace, logged } = kept
    return {
      id: `request-${this.#options.process.slice(0, 8)}-${number}`,
      number,
      time,
      door,
      operation: kept.operation || 'unknown',
      method,
      status,
      error: explain(kept.failure),
      milliseconds: Math.round(kept.milliseconds * 100) / 100,
      business_id: logged?.business ?? null,
      app_id: logged?.app ?? null,
      node_id: logged?.node ?? null,
      account_id,
      remote_address,
      trace,
      ...(this.keepsBodies && {
        target: blotUrl(kept.url ?? ''),
        request_headers: blotHeaders(kept.rawHeaders ?? []),
        request_body: kept.body === undefined ? null : blotText(kept.body.toString('utf8')),
        response_body: kept.answered === undefined ? null : blotText(kept.answered.slice(0, keptBodyBytes)),
      }),
    }
  }
}

function explain(failure: unknown): LoggedRequest['error'] {
  if (!(failure instanceof GraphError)) return null
  return { code: failure.code, message: failure.message }
}

function happeningOf(entry: LoggedRequest) {
  const { id, time, business_id, account_id, trace, number: _, ...data } = entry
  return { id, type: 'request' as const, time, business_id, account_id, phone_number_id: null, trace, data }
}
