import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../base/time/clock.ts'
import { isOfConsole } from '../../graph/caller.ts'
import { GraphError } from '../../graph/graph-error.ts'
import type { KeptRequest, LoggedRequest } from '../../graph/ports.ts'
import type { Feed } from '../../stream/feed.ts'
import { keptBodyBytes, keptBodyOf } from '../body/kept-body.ts'
import { redactBody, redactHeaders, redactJson, redactUrl } from './redact.ts'

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

/** How many bytes of paths, headers and bodies are kept at one door: of all doors together some 16 MiB. */
const keptBytesOfDoor = 2 << 20
/** A character of a text takes at most so many bytes of UTF-8. */
const maxBytesOfCharacter = 3
const traceBytes = 32
/** How much is kept besides of refused requests of unknown callers, of as much as is kept of all others. */
const shareOfStrangers = 0.125

/**
 * What is known of a request. Most are never looked at, so each is described only when it is, and takes the place of the oldest:
 * objects and texts of their own would outlive several garbage collections.
 */
interface Kept {
  number: number
  time: number
  status: number
  milliseconds: number
  operation: string
  method: string
  business: string | undefined
  app: string | undefined
  node: string | undefined
  account_id: string | null
  phone_number_id: string | null
  remote_address: string | null
  by_console: boolean
  error: LoggedRequest['error']
  fault: string | undefined
  /** Where its bytes are: its trace, and in a sandbox its path, headers, body and response. */
  start: number
  headEnd: number
  bodyEnd: number
  end: number
  hasBody: boolean
  hasResponse: boolean
}

/** The last requests at one door, with their texts as bytes in one place, the newest over the oldest. */
class Ring {
  readonly door: string
  readonly #size: number
  readonly #isWhole: boolean
  readonly #bytes: Buffer
  readonly #kept: Kept[] = []
  #next = 0
  /** Bytes written in all, with those skipped at the end of a round. */
  #written = 0

  constructor(door: string, share: number, { size, keepsBodies }: Pick<RequestLogOptions, 'size' | 'keepsBodies'>) {
    this.door = door
    this.#size = Math.ceil(size * share)
    this.#isWhole = keepsBodies
    this.#bytes = Buffer.allocUnsafeSlow(keepsBodies ? keptBytesOfDoor * share : this.#size * traceBytes)
  }

  keep(number: number, time: number, status: number, milliseconds: number, request: FastifyRequest): Kept {
    const { logged } = request
    const kept = this.#take()
    kept.number = number
    kept.time = time
    kept.status = status
    kept.milliseconds = milliseconds
    kept.operation = request.operationName
    kept.method = request.method
    kept.business = this.#tenantOf(request)
    kept.app = logged?.app
    kept.node = logged?.node
    kept.account_id = request.admission?.node?.account_id ?? null
    kept.phone_number_id = numberOf(request)
    kept.remote_address = request.graphRequest?.remote_address ?? null
    kept.by_console = request.admission?.caller !== undefined && isOfConsole(request.admission.caller)
    kept.error = status < 400 ? null : explain(request.failure)
    kept.fault = request.graphRequest?.fault
    this.#writeBytes(kept, request)
    return kept
  }

  /** Who runs the service acts for no tenant, whatever app the token is of: the tenant is that of the node, if there is one. */
  #tenantOf({ admission, logged }: FastifyRequest): string | undefined {
    return admission?.node?.business_id ?? (this.door === 'business' ? logged?.business : undefined)
  }

  /** Those whose bytes nothing was written over yet. */
  *all(): Iterable<Kept> {
    for (const kept of this.#kept) if (this.#written - kept.start <= this.#bytes.length) yield kept
  }

  traceOf({ start }: Kept): string {
    return this.#read(start, start + traceBytes)
  }

  describeWhole({ start, headEnd, bodyEnd, end, hasBody, hasResponse }: Kept): Partial<LoggedRequest> {
    const [url = '', ...rawHeaders] = this.#read(start + traceBytes, headEnd).split('\n')
    const headers = redactHeaders(rawHeaders)
    return {
      target: redactUrl(url),
      request_headers: headers,
      request_body: hasBody ? redactBody(this.#read(headEnd, bodyEnd), headers['content-type']) : null,
      response_body: hasResponse ? redactJson(this.#read(bodyEnd, end)) : null,
    }
  }

  #take(): Kept {
    const place = this.#next
    this.#next = place + 1 === this.#size ? 0 : place + 1
    const oldest = this.#kept[place]
    if (oldest) return oldest
    const kept = { ...noRequest }
    this.#kept[place] = kept
    return kept
  }

  #writeBytes(kept: Kept, { id, raw, originalUrl, responseText, admission }: FastifyRequest): void {
    const bytes = this.#bytes
    const keepsBodies = this.#isWhole && admission?.row.operation.isConfidential !== true
    // Neither a path nor a header contains the end of a line.
    const head = this.#isWhole ? `${id}${originalUrl}\n${raw.rawHeaders.join('\n')}` : id
    const body = keepsBodies ? keptBodyOf(raw) : undefined
    const response = keepsBodies ? responseText?.slice(0, keptBodyBytes) : undefined
    const space = (head.length + (response?.length ?? 0)) * maxBytesOfCharacter + (body?.length ?? 0)
    let at = this.#written % bytes.length
    if (this.#isWhole && at + space > bytes.length) {
      this.#written += bytes.length - at
      at = 0
    }
    const start = at
    const base = this.#written - start
    at += bytes.write(head, at)
    kept.start = this.#written
    kept.headEnd = base + at
    if (body) at += body.copy(bytes, at)
    kept.bodyEnd = base + at
    if (response !== undefined) at += bytes.write(response, at)
    kept.end = base + at
    kept.hasBody = body !== undefined
    kept.hasResponse = response !== undefined
    this.#written = base + at
  }

  #read(start: number, end: number): string {
    const at = start % this.#bytes.length
    return this.#bytes.toString('utf8', at, at + end - start)
  }
}

/** The rings of all doors, made when they are needed. */
class Rings {
  readonly #share: number
  readonly #byDoor = new Map<string, Ring>()
  readonly #byOperation = new Map<string, Ring>()

  constructor(share: number) {
    this.#share = share
  }

  find(operation: string, options: RequestLogOptions): Ring {
    const known = this.#byOperation.get(operation)
    if (known) return known
    const door = options.doorOf(operation)
    const ring = this.#byDoor.get(door) ?? new Ring(door, this.#share, options)
    this.#byDoor.set(door, ring)
    this.#byOperation.set(operation, ring)
    return ring
  }

  all(): Iterable<Ring> {
    return this.#byDoor.values()
  }
}

const noRequest: Kept = {
  number: 0,
  time: 0,
  status: 0,
  milliseconds: 0,
  operation: '',
  method: '',
  business: undefined,
  app: undefined,
  node: undefined,
  account_id: null,
  phone_number_id: null,
  remote_address: null,
  by_console: false,
  error: null,
  fault: undefined,
  start: 0,
  headEnd: 0,
  bodyEnd: 0,
  end: 0,
  hasBody: false,
  hasResponse: false,
}

/** The last requests of this process, door by door, for operators. */
export class RequestLog {
  readonly keepsBodies: boolean
  readonly #options: RequestLogOptions
  readonly #known = new Rings(1)
  /** Apart, because anybody could push out everybody else's. */
  readonly #strangers = new Rings(shareOfStrangers)
  #count = 0

  constructor(options: RequestLogOptions) {
    this.#options = options
    this.keepsBodies = options.keepsBodies && options.size > 0
  }

  note(request: FastifyRequest, status: number, milliseconds: number): void {
    const { size, feed, clock } = this.#options
    if (size === 0) return
    const rings = request.logged?.app === undefined && status >= 400 ? this.#strangers : this.#known
    const ring = rings.find(request.operationName, this.#options)
    const kept = ring.keep(++this.#count, clock.now(), status, milliseconds, request)
    if (feed.hasListeners) feed.publish(feedItemOf(this.#describe(ring, kept).whole()))
  }

  /** The newest first. */
  list(): KeptRequest[] {
    const rings = [...this.#known.all(), ...this.#strangers.all()]
    const all = rings.flatMap((ring) => [...ring.all()].map((one) => this.#describe(ring, one)))
    return all.sort((a, b) => b.number - a.number)
  }

  #describe(ring: Ring, kept: Kept): KeptRequest {
    const { number, time, method, status, error, account_id, phone_number_id, remote_address, by_console } = kept
    const facts = {
      id: `request-${this.#options.process.slice(0, 8)}-${number}`,
      number,
      time,
      door: ring.door,
      operation: kept.operation || 'unknown',
      method,
      status,
      error,
      milliseconds: Math.round(kept.milliseconds * 100) / 100,
      business_id: kept.business ?? null,
      app_id: kept.app ?? null,
      node_id: kept.node ?? null,
      account_id,
      phone_number_id,
      remote_address,
      by_console,
      trace: ring.traceOf(kept),
      ...(kept.fault !== undefined && { fault: kept.fault }),
    }
    return { ...facts, whole: () => ({ ...facts, ...(this.keepsBodies && ring.describeWhole(kept)) }) }
  }
}

function explain(failure: unknown): LoggedRequest['error'] {
  if (!(failure instanceof GraphError)) return null
  return { code: failure.code, message: failure.message }
}

function numberOf({ admission }: FastifyRequest): string | null {
  return admission?.node?.kind === 'phone_number' ? admission.node.id : null
}

function feedItemOf(entry: LoggedRequest) {
  const { id, time, business_id, account_id, phone_number_id, trace, number: _, ...data } = entry
  return { id, type: 'request' as const, time, business_id, account_id, phone_number_id, trace, data }
}
