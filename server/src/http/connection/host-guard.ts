import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { foreignPage, hostNotServed } from '../errors.ts'

export interface HostGuardOptions {
  readonly isOn: boolean
  /** Host names of this server; `*.example.com` covers every name below it. */
  readonly hosts: readonly string[]
  /** The origin of this server's pages, when it differs from the Host: `https://api.example.com`. */
  readonly origin: string | undefined
}

/** How many spellings of allowed hosts are cached. */
const maxKnown = 100
/** A website cannot have a name without a dot; machines and containers of one network use such names. */
const dotless = /^[a-z0-9_-]+$/

/**
 * Keeps out pages of other websites that a browser on this machine or network would let in. DNS rebinding is detected by the
 * `Host` header, a cross-site form by its origin headers.
 */
export class HostGuard {
  readonly #isOn: boolean
  readonly #hosts: ReadonlySet<string>
  readonly #parents: readonly string[]
  readonly #origin: string | undefined
  readonly #known = new Set<string>()

  constructor({ isOn, hosts, origin }: HostGuardOptions) {
    this.#isOn = isOn
    this.#origin = origin
    const names = hosts.map((name) => name.toLowerCase())
    this.#hosts = new Set(names.filter((name) => !name.startsWith('*.')))
    this.#parents = names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1))
  }

  /** Throws a 403 for a request that a browser made for another website. */
  check(request: IncomingMessage): void {
    if (!this.#isOn) return
    const { host } = request.headers
    if (host !== undefined && !this.#known.has(host)) this.#checkHost(host)
    const { method } = request
    if (method !== 'GET' && method !== 'HEAD') this.#checkSite(request)
  }

  #checkHost(host: string): void {
    if (!this.#isServed(host)) throw hostNotServed({ host: JSON.stringify(host.slice(0, 100)) })
    if (this.#known.size < maxKnown) this.#known.add(host)
  }

  /**
   * A cross-site form could write if it knew a token to put in the query. It cannot send the header `Authorization`, which needs a
   * preflight that is refused.
   */
  #checkSite({ headers }: IncomingMessage): void {
    if (headers.authorization !== undefined) return
    const site = headers['sec-fetch-site']
    const isForeign =
      site === undefined ? this.#isForeignOrigin(headers) : site === 'cross-site' || site === 'same-site'
    if (isForeign) throw foreignPage()
  }

  /** Browsers omit `Sec-Fetch-Site` when the connection is neither encrypted nor to this machine. */
  #isForeignOrigin({ origin, host }: IncomingMessage['headers']): boolean {
    if (origin === undefined || origin === this.#origin) return false
    return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase()
  }

  /** A literal address in Host needed no look-up, so DNS rebinding is impossible. */
  #isServed(host: string): boolean {
    const name = readHostName(host)
    return dotless.test(name) || isIP(name) !== 0 || name.endsWith('.localhost') || this.#isNamed(name)
  }

  #isNamed(name: string): boolean {
    return this.#hosts.has(name) || this.#parents.some((parent) => name.endsWith(parent))
  }
}

/** `Example.com.:8080` → `example.com`, `[::1]:8080` → `::1` */
export function readHostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1]
  return bracketed ?? host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}
