import type { Body } from './body.ts'
import type { AnyClient as Client, Row } from './client.ts'
import { APIError, SwitchboardError, traceOf } from './errors.ts'
import { type KeyedRequestOptions, type Params, prepareRequest, type RequestOptions } from './request.ts'
import { maxErrorLength, type Read, type Result, send } from './send.ts'

export interface WithResponse<T> {
  readonly data: T
  /** Its status and headers; the body is read already, except where it is the data. */
  readonly response: Response
  /** The trace of the request, which the server's log has too. */
  readonly trace: string | undefined
}

/** A request under way: the promise of what it returns. */
export class Call<T> extends Promise<T> {
  readonly #result: Promise<Result<T>>

  constructor(result: Promise<Result<T>>) {
    const called = new Error()
    const traced = result.catch((error: unknown) => {
      throw addCaller(error, called)
    })
    super((resolve, reject) => {
      traced.then(({ data }) => resolve(data), reject)
    })
    this.#result = traced
  }

  /** What `then` makes is a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  /** The response beside what is in it. */
  async withResponse(): Promise<WithResponse<T>> {
    // Who waits for this one need not wait for the other.
    this.catch(() => undefined)
    const { data, response } = await this.#result
    return { data, response, trace: traceOf(response.headers) }
  }
}

/** Says in the stack of an error who made the call: the engine does not follow what waits for a promise of our own. */
function addCaller(error: unknown, called: Error): unknown {
  // Jest writes `Error: `.
  const frames = called.stack?.replace(/^Error:? *(?=\n)/, '')
  if (error instanceof SwitchboardError && frames?.[0] === '\n') error.stack += frames
  return error
}

/** Calls a row that answers with an object. */
export function callRow<T>(
  client: Client,
  row: Row,
  args: readonly string[],
  params?: Params,
  options?: KeyedRequestOptions,
  body?: Body,
): Call<T> {
  return new Call(begin(client, row, args, params, options, body, readObject<T>))
}

export function callForText(
  client: Client,
  row: Row,
  args: readonly string[],
  params?: Params,
  options?: RequestOptions,
): Call<string> {
  return new Call(begin(client, row, args, params, options, undefined, (response) => response.text()))
}

/** The response as it is: its body can be read as a stream. */
export function callForResponse(
  client: Client,
  row: Row,
  args: readonly string[],
  params?: Params,
  options?: RequestOptions,
): Call<Response> {
  return new Call(begin(client, row, args, params, options, undefined, (response) => response))
}

export async function begin<T>(
  client: Client,
  row: Row,
  args: readonly string[],
  params: Params,
  options: KeyedRequestOptions = {},
  body: Body | undefined,
  read: Read<T>,
): Promise<Result<T>> {
  return send(client, await prepareRequest(client, row, args, params, options, body), options, read)
}

export async function readObject<T>(response: Response): Promise<T> {
  const text = await response.text()
  try {
    return JSON.parse(text) as T
  } catch {
    throw new APIError(response.status, text.slice(0, maxErrorLength), response.headers)
  }
}
