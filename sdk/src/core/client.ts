import { newestVersion, type Vocabulary } from '../generated/constants.ts'
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
  /** Its argument is a signed link that a response held. */
  readonly link?: boolean
  /** `messaging_product` is filled in. */
  readonly product?: boolean
  /** An `Idempotency-Key` makes it safe to send it again. */
  readonly key?: boolean
  /** Parameters that are sent as headers. */
  readonly headers?: readonly string[]
  /** The parameter that is a file. */
  readonly file?: string
  /** Writes the parameters where one is a file: a program without such a method does without it. */
  readonly write?: (params: Readonly<Record<string, unknown>>, file: string) => ReadyBody
  /** The member of `data` that holds the items of a list, where `data` is not the list itself. */
  readonly items?: string
  /** It waits for something to happen: a 408 is its answer. */
  readonly waits?: boolean
}

/** A token, or what gives one for each request. */
export type Token = string | (() => string | Promise<string>)

/** What `fetch` has to be able to do. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ClientOptions {
  /** Where the server is; `http://127.0.0.1:8080` when left out. */
  readonly baseUrl?: string | URL | undefined
  /** For the business door, and for the others where they have none of their own. */
  readonly token?: Token | undefined
  /** For the gateway door: a token with the scope `gateway`. */
  readonly gatewayToken?: Token | undefined
  /** For the operator door: a token with the scope `operator`. */
  readonly operatorToken?: Token | undefined
  /** The names on the wire, `VOCABULARY` of the server; `msgapp` when left out. */
  readonly vocabulary?: Vocabulary | undefined
  /** The version of the API; the newest when left out. */
  readonly version?: string | undefined
  /** How often a request is sent again; 2 when left out. */
  readonly maxRetries?: number | undefined
  /** Milliseconds that each try may take; 60,000 when left out, `Infinity`: as long as it takes. */
  readonly timeout?: number | undefined
  /** Used instead of the global `fetch`. */
  readonly fetch?: Fetch | undefined
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** `info` logs a line for each try, `debug` also where it went and what was sent with it, without tokens; `off` when left out. */
  readonly logLevel?: LogLevel | undefined
  /** Used instead of `console`. */
  readonly logger?: Logger | undefined
}

/** Where the server is and how to call it. It has no methods: `Switchboard` has all of them, functions take it as an argument. */
export class Client {
  readonly baseUrl: string
  readonly vocabulary: Vocabulary
  readonly version: string
  readonly maxRetries: number
  readonly timeout: number
  readonly fetch: Fetch
  readonly headers: Readonly<Record<string, string>>
  readonly logLevel: LogLevel
  readonly logger: Logger
  readonly #options: ClientOptions
  readonly #tokens: Readonly<Record<Row['door'], Token | undefined>>

  constructor(options: ClientOptions = {}) {
    const { baseUrl = 'http://127.0.0.1:8080', token } = options
    this.baseUrl = checkUrl(baseUrl)
    this.vocabulary = options.vocabulary ?? 'msgapp'
    this.version = options.version ?? newestVersion
    this.maxRetries = options.maxRetries ?? 2
    this.timeout = options.timeout ?? 60_000
    // Browsers refuse a fetch that is called as a method of something else.
    this.fetch = options.fetch ?? ((url, init) => fetch(url, init))
    this.headers = options.headers ?? {}
    this.logLevel = options.logLevel ?? 'off'
    this.logger = options.logger ?? console
    this.#options = options
    this.#tokens = {
      business: token,
      gateway: options.gatewayToken ?? token,
      operator: options.operatorToken ?? token,
      open: undefined,
    }
  }

  /**
   * The same client with some options changed; others stay as they are.
   *
   * @example
   * const patient = client.withOptions({ timeout: 300_000, maxRetries: 5 })
   */
  withOptions(options: ClientOptions): this {
    const Same = this.constructor as new (options: ClientOptions) => this
    return new Same({ ...this.#options, ...options })
  }

  /** The token for a door. */
  async tokenFor(door: Row['door']): Promise<string | undefined> {
    const token = this.#tokens[door]
    return typeof token === 'function' ? await token() : token
  }
}

function checkUrl(given: string | URL): string {
  const text = String(given)
  // Whatever comes before an @ may be a password. `fetch` takes no address with one, and says the whole address.
  if (!/^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/.test(text) || !URL.canParse(text)) {
    throw new SwitchboardError(
      `baseUrl must be an http or https URL such as http://127.0.0.1:8080, without a password or a query, not "${text.replace(/^.*@/, '…@')}"`,
    )
  }
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
