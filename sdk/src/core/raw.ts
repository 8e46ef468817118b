import { type Body, writeBody } from './body.ts'
import { begin, Call, readObject } from './call.ts'
import type { AnyClient as Client, Row } from './client.ts'
import { SwitchboardError } from './errors.ts'
import { isNodeId, type KeyedRequestOptions, writeQuery } from './request.ts'

/** A request that no method is there for, with the options of any other. */
export interface RawRequest extends KeyedRequestOptions {
  /** `GET` when left out. */
  readonly method?: Row['method'] | undefined
  /** From its first `/`, with what is in it encoded. At the business door the version is put in front, where it has none. */
  readonly path: string
  readonly query?: Readonly<Record<string, unknown>> | undefined
  /** An object is sent as JSON, anything else as it is. */
  readonly body?: Body | undefined
  /** Whose token it takes, and whether its path has a version; `business` when left out. */
  readonly door?: Row['door'] | undefined
  /** `response`: the response as it is, for files and other bodies that are no JSON. */
  readonly as?: 'json' | 'response' | undefined
}

/** Calls an operation that is newer than the client. An `idempotencyKey` is sent, and says that it may be sent again. */
export function request(client: Client, given: RawRequest & { readonly as: 'response' }): Call<Response>
export function request<T = unknown>(client: Client, given: RawRequest): Call<T>
export function request(client: Client, given: RawRequest): Call<unknown> {
  const { method = 'GET', path, query = {}, body, door = 'business', as, ...options } = given
  const send = async () => {
    if (!path.startsWith('/')) throw new SwitchboardError('the path of a request begins with /')
    const version = door === 'business' && !/^\/v\d/.test(path) ? `/${client.version}` : ''
    const pattern = path.replace(/[?#].*/, '').replaceAll(/[^/]+/g, hideSegment)
    const key = options.idempotencyKey !== undefined
    const locate = () => client.baseUrl + version + path + writeQuery(query)
    const row = { name: `${method} ${pattern}`, method, door, path: pattern, key, locate, write: writeBody }
    return begin(client, row, [], undefined, options, body, as === 'response' ? (response) => response : readObject)
  }
  return new Call<unknown>(send())
}

/** Errors and the log have the words and ids of a path: it may hold the number of a user, or worse. */
function hideSegment(text: string): string {
  return /^[a-z_]{1,30}$/.test(text) || isNodeId(text) ? text : '…'
}
