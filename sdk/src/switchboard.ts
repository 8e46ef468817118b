import type { Call } from './core/call.ts'
import type { ClientOptions, Row } from './core/client.ts'
import { type RawRequest, request } from './core/raw.ts'
import { AllMethods } from './generated/all-methods.ts'
import type { Vocabulary } from './generated/constants.ts'
import { Oauth } from './oauth/methods.ts'
import { proveSecret } from './oauth/proof.ts'
import { Webhooks } from './webhooks/methods.ts'

export interface SwitchboardOptions<V extends Vocabulary = Vocabulary> extends ClientOptions<V> {
  /**
   * The secret of the app whose `token` it is: every request with that token proves that its sender knows the secret (`appsecret_proof`).
   * For programs that run where nobody else reads it, never for pages.
   */
  readonly appSecret?: string | undefined
}

/** Options without a vocabulary, which are those of the default one. */
type DefaultOptions<V extends Vocabulary> = 'msgapp' extends V ? [options?: SwitchboardOptions<V>] : [vocabulary: never]

/** The client of a Switchboard server: every method of every door, grouped by chapter. */
export class Switchboard<V extends Vocabulary = 'msgapp'> extends AllMethods<V> {
  readonly #appSecret: string | undefined
  override readonly oauth: Oauth<V> = new Oauth(this)
  override readonly webhooks: Webhooks<V> = new Webhooks(this)

  constructor(options: SwitchboardOptions<V> & { readonly vocabulary: V })
  constructor(...given: DefaultOptions<V>)
  constructor(options: SwitchboardOptions<V> = {}) {
    super(options as ClientOptions<V> & { readonly vocabulary: V })
    this.#appSecret = options.appSecret
  }

  /**
   * The same client with some options changed; others stay as they are.
   *
   * @example
   * const patient = client.withOptions({ timeout: 300_000, maxRetries: 5 })
   */
  override withOptions(options: SwitchboardOptions<V>): this {
    return super.withOptions(options)
  }

  /** In the query, whatever the body is: the log shows none. The secret is that of the app whose token the business door takes. */
  override async sign({ door }: Row, url: string, token: string | undefined): Promise<string> {
    if (this.#appSecret === undefined || token === undefined || door !== 'business') return url
    const proof = await proveSecret(this.#appSecret, token.trim())
    return `${url}${url.includes('?') ? '&' : '?'}appsecret_proof=${proof}`
  }

  /**
   * Calls an operation that is newer than this client, with its tokens, retries and errors.
   *
   * @example
   * const { name } = await client.request<{ name: string }>({ path: '/1000000000000001', query: { fields: 'name' } })
   */
  request(given: RawRequest & { readonly as: 'response' }): Call<Response>
  request<T = unknown>(given: RawRequest): Call<T>
  request(given: RawRequest): Call<unknown> {
    return request(this, given)
  }
}
