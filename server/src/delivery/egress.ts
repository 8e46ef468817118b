import { type Dispatcher, Pool } from 'undici'
import type { Clock } from '../base/clock.ts'
import { minute } from '../base/duration.ts'
import { findUrlProblem } from './callback-url.ts'
import { EgressError, explainFailure } from './egress-error.ts'
import { makeGuardedConnector } from './guarded-connect.ts'
import { isPublicAddress } from './public-address.ts'
import type { Resolve } from './resolve.ts'

/** How much of an answer is read. */
export const maxAnswerBytes = 65_536
/**
 * So that one host can neither use up the sockets of this machine nor be flooded by it. As many as deliveries have room for at
 * one host, and some for handshakes beside them.
 */
const defaultConnectionsPerOrigin = 160
const poolIdleTime = minute
/** Handshakes bring URLs that are used once: what is kept of them is bounded. */
const maxTargets = 10_000

export interface EgressDeps {
  /** Whether plain http and internal addresses are fine, as in development. */
  readonly allowInternal: boolean
  /** Milliseconds for a request from its start to the end of the answer. */
  readonly timeout: number
  readonly resolve: Resolve
  readonly clock: Clock
  readonly userAgent: string
  readonly maxPools?: number
  readonly connectionsPerOrigin?: number
  /** What counts as public: for tests, whose sinks are all on loopback. */
  readonly isPublic?: (address: string) => boolean
  /** PEM of the certificate authorities to trust; left out: those of the system. */
  readonly trustedCertificates?: string
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

interface Target {
  readonly origin: string
  readonly path: string
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** As much of it as came and is read. */
  readonly body: Buffer
  /** Whether there was more than is read. */
  readonly cut: boolean
  /** Why the body broke off, when it did: the status had come by then. */
  readonly failure: EgressError | undefined
}

/**
 * Requests to addresses that strangers chose. Each is checked when it is connected to, an answer is read to a limit,
 * a redirect is an answer like any other, and nothing waits for longer than the timeout.
 */
export class Egress {
  readonly #deps: EgressDeps
  readonly #connect: ReturnType<typeof makeGuardedConnector>
  readonly #maxPools: number
  /** By origin; the one that was used last is the last. */
  readonly #pools = new Map<string, { readonly pool: Pool; usedTime: number }>()
  /** Taken out of use, with requests that are still running. */
  readonly #leaving = new Set<Pool>()
  /** URLs that may be used, with where they lead: those of subscribers are used for every delivery. */
  readonly #targets = new Map<string, Target>()
  #closed = false

  constructor(deps: EgressDeps) {
    this.#deps = deps
    this.#maxPools = deps.maxPools ?? 256
    this.#connect = makeGuardedConnector({
      isAllowed: deps.allowInternal ? () => true : (deps.isPublic ?? isPublicAddress),
      resolve: deps.resolve,
      // Shorter than the whole, so that a host that is not there is told from one that does not answer.
      timeout: Math.ceil(deps.timeout / 2),
      trustedCertificates: deps.trustedCertificates,
    })
  }

  /** How many origins a pool is kept for. */
  get poolCount(): number {
    return this.#pools.size
  }

  /** Sends one request; an `EgressError` says why there was no answer. */
  async send({ method, url, headers, body }: OutgoingRequest): Promise<Answer> {
    if (this.#closed) throw new EgressError('closed', 'the service is stopping')
    const { origin, path } = this.#targetOf(url)
    const deadline = new AbortController()
    let late = 'no answer came in time'
    const timer = setTimeout(() => deadline.abort(new EgressError('timeout', late)), this.#deps.timeout)
    try {
      const answer = await this.#poolFor(origin).request({
        method,
        path,
        headers: { 'user-agent': this.#deps.userAgent, ...headers },
        body: body ?? null,
        signal: deadline.signal,
      })
      late = 'its answer did not end in time'
      return { status: answer.statusCode, headers: answer.headers, ...(await readSome(answer.body)) }
    } catch (error) {
      throw explainFailure(error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends every request and connection. */
  async close(): Promise<void> {
    this.#closed = true
    const pools = [...[...this.#pools.values()].map(({ pool }) => pool), ...this.#leaving]
    this.#pools.clear()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }

  /** Scheme, host and port of a URL; the text itself where it may not be used. */
  originOf(url: string): string {
    return this.#targets.get(url)?.origin ?? this.#findTarget(url)?.origin ?? url
  }

  /** Where a URL leads, if it may be used. */
  #targetOf(url: string): Target {
    const known = this.#targets.get(url)
    if (known) return known
    // Also what was stored when other rules were in force.
    const problem = findUrlProblem(url, this.#deps.allowInternal)
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

  /** Lets a pool finish what runs and close. */
  #retire(origin: string): void {
    const { pool } = this.#pools.get(origin) as { pool: Pool }
    this.#pools.delete(origin)
    this.#leaving.add(pool)
    void pool.close().finally(() => this.#leaving.delete(pool))
  }
}

type ReadBody = Pick<Answer, 'body' | 'cut' | 'failure'>

/** A status that came counts, whatever becomes of the body: so a body that breaks off is no error. */
function readSome(stream: Dispatcher.ResponseData['body']): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const end = (failure?: EgressError) =>
      resolve({ body: Buffer.concat(chunks).subarray(0, maxAnswerBytes), cut: size > maxAnswerBytes, failure })
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      // The connection ends with it: the rest is never fetched.
      if (size > maxAnswerBytes) stream.destroy()
    })
    stream.on('end', () => end())
    stream.on('error', (error) => {
      try {
        // That we have cut it ourselves comes as an error too.
        end(size > maxAnswerBytes ? undefined : explainFailure(error))
      } catch (unexplained) {
        reject(unexplained)
      }
    })
  })
}
