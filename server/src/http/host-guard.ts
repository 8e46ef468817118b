import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { foreignPage, hostNotServed } from './errors.ts'

export interface HostGuardOptions {
  readonly isOn: boolean
  /** Names that lead here; `*.example.com` stands for every name below it. */
  readonly hosts: readonly string[]
  /** What pages of this server come from, where that is not the Host: `https://api.example.com`. */
  readonly origin: string | undefined
}

/** So many spellings of good hosts are known without reading them again. */
const maxKnown = 100
/** A website cannot have a name without a dot; machines and containers of one network call each other by such names. */
const dotless = /^[a-z0-9_-]+$/

/**
 * Keeps pages of other websites out, which a browser on this machine or in its network would open the way for. A page whose
 * name was led here (DNS rebinding) is known by its `Host`; a form of another site is known by where it says it comes from.
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

  /** Throws the 403 for a request that a browser made for another website. */
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
   * A form of another site can write, as long as it can name a token in the query. It cannot send the header `Authorization`, for
   * which a browser asks first and is refused.
   */
  #checkSite({ headers }: IncomingMessage): void {
    if (headers.authorization !== undefined) return
    const site = headers['sec-fetch-site']
    const isForeign =
      site === undefined ? this.#isForeignOrigin(headers) : site === 'cross-site' || site === 'same-site'
    if (isForeign) throw foreignPage()
  }

  /** Browsers leave `Sec-Fetch-Site` out where the connection is neither encrypted nor to this machine. */
  #isForeignOrigin({ origin, host }: IncomingMessage['headers']): boolean {
    if (origin === undefined || origin === this.#origin) return false
    return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase()
  }

  /** An address as a Host was not looked up, so nobody can have led it elsewhere. */
  #isServed(host: string): boolean {
    const name = readName(host)
    return dotless.test(name) || isIP(name) !== 0 || name.endsWith('.localhost') || this.#isNamed(name)
  }

  #isNamed(name: string): boolean {
    return this.#hosts.has(name) || this.#parents.some((parent) => name.endsWith(parent))
  }
}

/** `Example.com.:8080` → `example.com`, `[::1]:8080` → `::1` */
function readName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1]
  return bracketed ?? host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}
