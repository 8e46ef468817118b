import type { Call } from './core/call.ts'
import { type RawRequest, request } from './core/raw.ts'
import { AllMethods } from './generated/all-methods.ts'
import type { Vocabulary } from './generated/constants.ts'
import { Webhooks } from './webhooks/methods.ts'

/** The client of a Switchboard server: every method of every door, grouped by chapter. */
export class Switchboard<V extends Vocabulary = 'msgapp'> extends AllMethods<V> {
  override readonly webhooks: Webhooks<V> = new Webhooks(this)

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
