import type { Readable } from 'node:stream'
import { Pool } from 'undici'
import type { Clock } from '../base/time/clock.ts'
import { day, minute } from '../base/time/duration.ts'
import { findUrlProblem } from './callback-url.ts'
import { EgressError, explainFailure } from './egress-error.ts'
import { type EgressResponse, Exchange, makeInterimCount } from './exchange.ts'
import { makeGuardedConnector } from './guarded-connect.ts'
import { isPublicAddress } from './public-address.ts'
import { type Resolve, useLastAddresses } from './resolve.ts'

/**
 * Keeps one host from using up this machine's sockets, and from being flooded by it: as many connections as deliveries have room
 * for at one host, and some more for handshakes.
 */
const defaultConnectionsPerOrigin = 160
const poolIdleTime = minute
/** How long the last addresses of a name are used while no name server responds. */
const keptAddresses = day
/** Handshakes bring URLs that are used once, so the number of pools is bounded. */
const maxTargets = 10_000

export interface EgressDeps {
  /** Whether plain http and internal addresses are fine, as in development. */
  readonly allowInternal: boolean
  /** Whether plain http to public addresses is fine too. */
  readonly allowHttp?: boolean
  /** Milliseconds for a request, from its start to the end of the response. */
  readonly timeout: number
  readonly resolve: Resolve
  readonly clock: Clock
  readonly userAgent: string
  readonly maxPools?: number
  readonly connectionsPerOrigin?: number
  /** Decides which addresses are public. For tests, whose sinks are all on loopback. */
  readonly isPublic?: (address: string) => boolean
  /** PEM of the certificate authorities to trust; by default those of the system. */
  readonly trustedCertificates?: string
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** Asked at the moment when its first byte is about to leave, which may be long after `send`: for a connection that was busy, say. */
  readonly mayLeave?: () => boolean
}

interface Target {
  readonly origin: string
  readonly path: string
}

export interface OpenedFile extends Pick<EgressResponse, 'status' | 'headers'> {
  readonly body: Readable
}

/**
 * Sends requests to addresses that strangers chose. Each address is checked on connecting, a response is read up to a limit, a
 * redirect is not followed, and nothing waits longer than the timeout.
 */
export class Egress {
  readonly #deps: EgressDeps
  readonly #connect: ReturnType<typeof makeGuardedConnector>
  readonly #maxPools: number
  /** By origin; the last used is last. */
  readonly #pools = new Map<string, { readonly pool: Pool; usedTime: number }>()
  /** Retired pools with requests still under way. */
  readonly #leaving = new Set<Pool>()
  /** URLs that were checked, with their origins, because the URL of a subscriber is used for every delivery. */
  readonly #targets = new Map<string, Target>()
  #closed = false

  constructor(deps: EgressDeps) {
    this.#deps = deps
    this.#maxPools = deps.maxPools ?? 256
    this.#connect = makeGuardedConnector({
      isAllowed: deps.allowInternal ? () => true : (deps.isPublic ?? isPublicAddress),
      // Shorter than a connection may take, so that the failure says what did not respond.
      resolve: useLastAddresses(deps.resolve, {
        timeout: Math.ceil(0.4 * deps.timeout),
        keep: keptAddresses,
        now: () => performance.now(),
      }),
      // Shorter than the whole timeout, to distinguish a host that cannot be reached from one that does not respond.
      timeout: Math.ceil(deps.timeout / 2),
      trustedCertificates: deps.trustedCertificates,
    })
  }

  get userAgent(): string {
    return this.#deps.userAgent
  }

  /** How many origins may have a pool. */
  get poolCount(): number {
    return this.#pools.size
  }

  /** Sends one request; an `EgressError` says why there was no response. */
  async send({ method, url, headers, body, mayLeave }: OutgoingRequest): Promise<EgressResponse> {
    if (this.#closed) throw new EgressError('closed', 'the service is stopping')
    const { origin, path } = this.#targetOf(url)
    const { timeout, userAgent } = this.#deps
    const exchange = new Exchange(timeout, mayLeave)
    this.#poolFor(origin).dispatch(
      {
        method,
        path,
        headers: headers?.['user-agent'] === undefined ? { 'user-agent': userAgent, ...headers } : headers,
        body: body ?? null,
        // The exchange has a timer for the whole.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      exchange,
    )
    return exchange.response
  }

  /**
   * Begins to fetch a file: its bytes are read, or the stream destroyed, by the caller, whose signal ends it. An `EgressError` says why
   * there was no response.
   */
  async open(url: string, signal: AbortSignal): Promise<OpenedFile> {
    if (this.#closed) throw new EgressError('closed', 'the service is stopping')
    const { origin, path } = this.#targetOf(url)
    // A file that is packed on its way would be taken for another type.
    const headers = { 'user-agent': this.#deps.userAgent, 'accept-encoding': 'identity' }
    const ending = new AbortController()
    const countInterim = makeInterimCount()
    const onInfo = () => {
      const problem = countInterim()
      if (problem) ending.abort(problem)
    }
    try {
      const request = {
        method: 'GET',
        path,
        headers,
        signal: AbortSignal.any([signal, ending.signal]),
        onInfo,
      } as const
      const response = await this.#poolFor(origin).request(request)
      return { status: response.statusCode, headers: response.headers, body: response.body }
    } catch (error) {
      throw explainFailure(error)
    }
  }

  /** Aborts every request and closes every connection. */
  async close(): Promise<void> {
    this.#closed = true
    const pools = [...[...this.#pools.values()].map(({ pool }) => pool), ...this.#leaving]
    this.#pools.clear()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }

  /** Scheme, host and port of a URL; the text itself when the URL is not allowed. */
  originOf(url: string): string {
    return this.#targets.get(url)?.origin ?? this.#findTarget(url)?.origin ?? url
  }

  /** The origin of a URL, if the URL is allowed. */
  #targetOf(url: string): Target {
    const known = this.#targets.get(url)
    if (known) return known
    // A stored URL may come from a time when other rules were in force.
    const problem = findUrlProblem(url, this.#deps.allowInternal, this.#deps.allowInternal || this.#deps.allowHttp)
    if (problem !== undefined)
      throw new EgressError('address_not_allowed', `its URL is not allowed: ${problem.replace(/\.$/, '')}`)
    const { origin, pathname, search } = new URL(url)
    const target = { origin, path: `${pathname}${search}` }
    if (this.#targets.size >= maxTargets) this.#targets.clear()
    this.#targets.set(url, target)
    return target
  }

  #findTarget(url: string): Target | undefined {
    try {
      return this.#targetOf(url)
    } catch {
      return undefined
    }
  }

  #poolFor(origin: string): Pool {
    const now = this.#deps.clock.now()
    const known = this.#pools.get(origin)
    if (known) {
      known.usedTime = now
      this.#pools.delete(origin)
      this.#pools.set(origin, known)
    } else {
      this.#pools.set(origin, { pool: this.#openPool(origin), usedTime: now })
    }
    for (const [oldest, { usedTime }] of this.#pools) {
      if (this.#pools.size <= this.#maxPools && now - usedTime < poolIdleTime) break
      this.#retire(oldest)
    }
    return (this.#pools.get(origin) as { pool: Pool }).pool
  }

  #openPool(origin: string): Pool {
    const { timeout, connectionsPerOrigin = defaultConnectionsPerOrigin } = this.#deps
    return new Pool(origin, {
      connect: this.#connect,
      connections: connectionsPerOrigin,
      allowH2: false,
      headersTimeout: timeout,
      bodyTimeout: timeout,
      keepAliveMaxTimeout: poolIdleTime,
    })
  }

  /** Closes a pool after its requests under way. */
  #retire(origin: string): void {
    const { pool } = this.#pools.get(origin) as { pool: Pool }
    this.#pools.delete(origin)
    this.#leaving.add(pool)
    void pool.close().finally(() => this.#leaving.delete(pool))
  }
}
