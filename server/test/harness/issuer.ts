import { generateKeyPairSync } from 'node:crypto'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { request } from 'undici'

export const issuerClient = { id: 'switchboard', secret: 'secret of the client' } as const

/** What the issuer says of somebody. */
export type Person = Readonly<Record<string, unknown>>

/** A real OpenID Connect issuer on loopback. Until it is opened, it answers 503. */
export class TestIssuer {
  readonly people = new Map<string, Person>()
  /** Who signs in next; undefined: the person declines. */
  who: string | undefined
  /** A path that it does not respond to. */
  silent: string | undefined
  readonly url: string
  readonly #server: Server
  #answer: RequestListener = (_, response) => response.writeHead(503).end()

  private constructor(server: Server, host: string) {
    this.#server = server
    this.url = `http://${host}:${(server.address() as AddressInfo).port}`
    server.on('request', (incoming, response) => this.#answer(incoming, response))
  }

  /** `host`: another name of this machine is another website for browsers. */
  static async listen(host = '127.0.0.1'): Promise<TestIssuer> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new TestIssuer(server, host)
  }

  async open(service: string): Promise<void> {
    const { default: Provider } = await import('oidc-provider')
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
    const scope = 'openid email profile groups'
    const provider = new Provider(this.url, {
      clients: [
        {
          client_id: issuerClient.id,
          client_secret: issuerClient.secret,
          redirect_uris: [`${service}/console/sign-in/callback`],
          post_logout_redirect_uris: [`${service}/sign-in`],
          id_token_signed_response_alg: 'ES256',
        },
      ],
      jwks: { keys: [{ ...key, alg: 'ES256', use: 'sig' }] },
      adapter: MemoryAdapter,
      ttl: { Interaction: 60, Grant: 60, Session: 60, AccessToken: 60, IdToken: 60, AuthorizationCode: 60 },
      cookies: { keys: ['a key of the test'] },
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['preferred_username'],
        groups: ['groups'],
      },
      pkce: { required: () => true },
      discovery: { prompt_values_supported: ['none', 'login', 'consent'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: () => '/interaction' },
      findAccount: async (_: unknown, sub: string) => ({
        accountId: sub,
        claims: async () => ({ ...this.people.get(sub), sub }),
      }),
      loadExistingGrant: async ({
        oidc,
      }: {
        oidc: { client: { clientId: string }; session: { accountId: string } }
      }) => {
        const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
        grant.addOIDCScope(scope)
        await grant.save()
        return grant
      },
    })
    const callback = provider.callback()
    this.#answer = (incoming, response) => {
      if (incoming.url === this.silent) return
      if (incoming.url !== '/interaction') return callback(incoming, response)
      const result = this.who === undefined ? { error: 'access_denied' } : { login: { accountId: this.who } }
      void provider.interactionFinished(incoming, response, result)
    }
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}

/** Where the issuer keeps what it knows; its own warns that it is for trials. */
class MemoryAdapter {
  static readonly kept = new Map<string, Record<string, unknown>>()
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  async upsert(id: string, payload: Record<string, unknown>): Promise<void> {
    MemoryAdapter.kept.set(`${this.#name} ${id}`, payload)
  }

  async find(id: string): Promise<Record<string, unknown> | undefined> {
    return MemoryAdapter.kept.get(`${this.#name} ${id}`)
  }

  async findByUid(uid: string): Promise<Record<string, unknown> | undefined> {
    return [...MemoryAdapter.kept.values()].find((payload) => payload['uid'] === uid)
  }

  async consume(id: string): Promise<void> {
    const payload = await this.find(id)
    if (payload) payload['consumed'] = true
  }

  async destroy(id: string): Promise<void> {
    MemoryAdapter.kept.delete(`${this.#name} ${id}`)
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, payload] of MemoryAdapter.kept) if (payload['grantId'] === grantId) MemoryAdapter.kept.delete(key)
  }
}

/** What a browser gets, and where it is sent. */
export interface Visited {
  readonly status: number
  readonly location: string
  readonly setCookie: readonly string[]
  readonly body: string
}

interface KeptCookie {
  readonly name: string
  readonly value: string
  readonly path: string
}

/** A browser without pages: it keeps cookies by host and path, and follows a redirect only when a test says so. */
export class TestBrowser {
  readonly #cookies = new Map<string, Map<string, KeptCookie>>()

  /** The cookies of an address, as a header. */
  cookie(url: string): string {
    const { host, pathname } = new URL(url)
    const kept = [...(this.#cookies.get(host)?.values() ?? [])].filter(({ path }) => pathname.startsWith(path))
    return kept.map(({ name, value }) => `${name}=${value}`).join('; ')
  }

  /** Removes the cookies of a host. */
  forget(url: string): void {
    this.#cookies.delete(new URL(url).host)
  }

  /** `through`: another process that stands behind the same address. */
  async visit(
    url: string,
    options: {
      through?: string
      headers?: Record<string, string>
      method?: 'POST'
      form?: Record<string, string>
    } = {},
  ): Promise<Visited> {
    const { host, pathname, search } = new URL(url)
    const { form } = options
    const type = form && { 'content-type': 'application/x-www-form-urlencoded' }
    const headers = { host, cookie: this.cookie(url), ...type, ...options.headers }
    const target = (options.through ?? new URL(url).origin) + pathname + search
    const answer = await request(target, {
      headers,
      method: form ? 'POST' : (options.method ?? 'GET'),
      body: form ? new URLSearchParams(form).toString() : null,
    })
    const setCookie = [answer.headers['set-cookie'] ?? []].flat()
    for (const line of setCookie) this.#keep(host, line)
    const location = answer.headers['location']?.toString() ?? ''
    const body = await answer.body.text()
    return { status: answer.statusCode, location: location && new URL(location, url).href, setCookie, body }
  }

  /** Follows redirects until one of them leads to an address that begins so; returns that address unvisited. */
  async followTo(prefix: string, url: string): Promise<string> {
    let next = url
    for (let hops = 0; hops < 10; hops++) {
      if (next.startsWith(prefix)) return next
      const { location, status, body } = await this.visit(next)
      if (location === '') throw new Error(`${next} answered ${status} and sends nobody on: ${body.slice(0, 300)}`)
      next = location
    }
    throw new Error(`too many redirects to ${next}`)
  }

  #keep(host: string, line: string): void {
    const [pair = '', ...attributes] = line.split('; ')
    const [name = '', value = ''] = pair.split('=', 2)
    const own = this.#cookies.get(host) ?? new Map<string, KeptCookie>()
    this.#cookies.set(host, own)
    const path = attributes.find((one) => /^path=/i.test(one))?.slice('path='.length) ?? '/'
    const isGone = value === '' || attributes.some((one) => /^max-age=0$|^expires=thu, 01 jan 1970/i.test(one))
    if (isGone) own.delete(`${name} ${path}`)
    else own.set(`${name} ${path}`, { name, value, path })
  }
}
