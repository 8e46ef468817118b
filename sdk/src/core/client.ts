import { newestVersion, serverVersion, type Vocabulary } from '../generated/constants.ts'
import type { ReadyBody } from './body.ts'
import { SwitchboardError } from './errors.ts'
import type { Logger, LogLevel } from './logger.ts'

/** What has to be known of a row of the server's table to send it. */
export interface Row {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Whose token it takes. */
  readonly door: 'business' | 'gateway' | 'operator' | 'open'
  /** `{}` for each argument, `{product}` for the product's name; at the business door without the version. */
  readonly path: string
  /** Where it is, if `path` says only what may be shown of that: a program without such a method does without it. */
  readonly locate?: (client: AnyClient, row: Row, args: readonly string[]) => string
  /** `messaging_product` is filled in. */
  readonly product?: boolean
  /** An `Idempotency-Key` makes it safe to send it again. */
  readonly key?: boolean
  /** Parameters that are sent as headers. */
  readonly headers?: readonly string[]
  /** The parameter that is a file. */
  readonly file?: string
  /** Writes a body that is not JSON: the parameters where one is a file, or bytes. A program without such a method does without it. */
  // biome-ignore lint/suspicious/noExplicitAny: what it takes is what the methods of the row take.
  readonly write?: (given: any, file: string) => ReadyBody
  /** The member of `data` that holds the items of a list, where `data` is not the list itself. */
  readonly items?: string
  /** It waits for something to happen: a 408 is its answer. */
  readonly waits?: boolean
}

/** A token, or what gives one for each request. */
export type Token = string | (() => string | Promise<string>)

/** What a `fetch` is called with; `fetchOptions` are beside it. */
export interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: packages with a `fetch` have types of their own for the same body.
  readonly body?: any
  readonly signal: AbortSignal
  readonly redirect: 'manual' | 'error'
}

/** What of a `Response` is the same in the types of every package with a `fetch`. */
export interface FetchedResponse {
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: unknown
  text(): Promise<string>
}

/** What `fetch` has to be able to do. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchedResponse>

/**
 * What else `fetch` is called with: a `dispatcher` (Node) for a proxy, for the certificate of a client or for other limits of
 * connections, `proxy` and `tls` (Bun), `credentials` (browsers).
 */
export type FetchOptions = Readonly<Omit<RequestInit, keyof FetchInit | 'dispatcher'>> & {
  readonly dispatcher?: object
}

export interface ClientOptions<V extends Vocabulary = Vocabulary> {
  /** Where the server is; when left out `SWITCHBOARD_URL` of the environment, or `http://127.0.0.1:8080`. */
  readonly baseUrl?: string | URL | undefined
  /** For the business door, and for the others where they have none of their own; when left out `SWITCHBOARD_TOKEN` of the environment. */
  readonly token?: Token | undefined
  /** For the gateway door: a token with the scope `gateway`; when left out `token`, or `SWITCHBOARD_GATEWAY_TOKEN` of the environment. */
  readonly gatewayToken?: Token | undefined
  /** For the operator door: a token with the scope `operator`; when left out `token`, or `SWITCHBOARD_OPERATOR_TOKEN` of the environment. */
  readonly operatorToken?: Token | undefined
  /** The names on the wire, `VOCABULARY` of the server; `msgapp` when left out. */
  readonly vocabulary?: V | undefined
  /** The version of the API; the newest when left out. */
  readonly version?: string | undefined
  /** How often a request is sent again; 2 when left out. */
  readonly maxRetries?: number | undefined
  /** Milliseconds that each try may take; 60,000 when left out, `Infinity`: as long as it takes. */
  readonly timeout?: number | undefined
  /** Used instead of the global `fetch`. */
  readonly fetch?: Fetch | undefined
  /** Handed to `fetch` with every request: a proxy, the certificate of a client. */
  readonly fetchOptions?: FetchOptions | undefined
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** `info` logs a line for each try, `debug` also where it went and the form of what was sent, without its values; `off` when left out. */
  readonly logLevel?: LogLevel | undefined
  /** Used instead of `console`. */
  readonly logger?: Logger | undefined
}

/** Options without a vocabulary, which are those of the default one. */
type DefaultOptions<V extends Vocabulary> = 'msgapp' extends V ? [options?: ClientOptions<V>] : [vocabulary: never]

/** A client of a server with any vocabulary. */
export type AnyClient = Client<Vocabulary>

/** Where the server is and how to call it. It has no methods: `Switchboard` has all of them, functions take it as an argument. */
export class Client<V extends Vocabulary = 'msgapp'> {
  readonly baseUrl: string
  readonly vocabulary: V
  readonly version: string
  readonly maxRetries: number
  readonly timeout: number
  readonly fetch: Fetch
  readonly fetchOptions: FetchOptions
  readonly headers: Readonly<Record<string, string>>
  readonly logLevel: LogLevel
  readonly logger: Logger
  readonly #options: ClientOptions
  readonly #tokens: Readonly<Record<Row['door'], Token | undefined>>

  /** Adds to the address of a request what shows that its sender knows the secret of the token's app. `Switchboard` has it. */
  sign?(row: Row, url: string, token: string | undefined): Promise<string>

  constructor(options: ClientOptions<V> & { readonly vocabulary: V })
  constructor(...given: DefaultOptions<V>)
  constructor(options: ClientOptions<V> = {}) {
    // A token that is given is used before one that happens to be in the environment.
    const { token } = options
    const common = token ?? readEnvironment('TOKEN')
    this.baseUrl = checkUrl(options.baseUrl ?? readEnvironment('URL') ?? 'http://127.0.0.1:8080')
    this.vocabulary = options.vocabulary ?? ('msgapp' as V)
    this.version = options.version ?? newestVersion
    this.maxRetries = options.maxRetries ?? 2
    this.timeout = options.timeout ?? 60_000
    this.fetch = options.fetch ?? platformFetch
    this.fetchOptions = options.fetchOptions ?? {}
    this.headers = { ...describeAgent(), ...lowerNames(options.headers) }
    this.logLevel = options.logLevel ?? 'off'
    this.logger = options.logger ?? console
    this.#options = options
    this.#tokens = {
      business: common,
      gateway: options.gatewayToken ?? token ?? readEnvironment('GATEWAY_TOKEN') ?? common,
      operator: options.operatorToken ?? token ?? readEnvironment('OPERATOR_TOKEN') ?? common,
      open: undefined,
    }
  }

  /**
   * The same client with some options changed; others stay as they are.
   *
   * @example
   * const patient = client.withOptions({ timeout: 300_000, maxRetries: 5 })
   */
  withOptions(options: ClientOptions<V>): this {
    const Same = this.constructor as new (options: ClientOptions) => this
    return new Same({ ...this.#options, ...options })
  }

  /** The token for a door. */
  async tokenFor(door: Row['door']): Promise<string | undefined> {
    const token = this.#tokens[door]
    return typeof token === 'function' ? await token() : token
  }
}

/** Browsers refuse a fetch that is called as a method of something else. */
export function platformFetch(url: string, init: FetchInit): Promise<Response> {
  return fetch(url, init)
}

interface Runtime {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly versions?: { readonly node?: string }
}

/** Not every place has a `process`; bundlers put an empty one there. */
function findRuntime(): Runtime | undefined {
  return (globalThis as { readonly process?: Runtime }).process
}

function readEnvironment(name: string): string | undefined {
  try {
    return findRuntime()?.env?.[`SWITCHBOARD_${name}`]?.trim() || undefined
  } catch {
    // Deno lets nobody read it without permission: then nothing is there.
    return undefined
  }
}

/** Browsers have a name of their own, which they let nobody change. */
function describeAgent(): Record<string, string> | undefined {
  const node = findRuntime()?.versions?.node
  return node === undefined ? node : { 'user-agent': `switchboard-client/${serverVersion} (node/${node})` }
}

export function lowerNames(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function checkUrl(given: string | URL): string {
  const text = String(given)
  // Whatever comes before an @ may be a password. `fetch` takes no address with one, and says the whole address.
  if (!/^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/.test(text) || !URL.canParse(text)) {
    throw new SwitchboardError(
      `baseUrl (or SWITCHBOARD_URL) must be an http or https URL without a password or a query, not "${text.replace(/^.*@/, '…@')}"`,
    )
  }
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
