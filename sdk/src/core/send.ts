import { type AnyClient as Client, platformFetch } from './client.ts'
import { APIConnectionError, APIConnectionTimeoutError, APIError, makeApiError, SwitchboardError } from './errors.ts'
import { logTry } from './log.ts'
import type { PreparedRequest, RequestOptions } from './request.ts'
import { makeAbortError, pause, startTimer, waitBefore } from './retry.ts'

/** Waiting for something takes longer than other requests. */
const timeoutOfWaiting = 75_000
/** So does sending a file. */
const timeoutOfFiles = 600_000
/** How long Node waits for the head of a response, and between two pieces of its body. */
const timeoutOfNode = 300_000
/** How much of the body of an error is kept. */
export const maxErrorLength = 65_536

/** Reads what a method returns from the response; the try lasts until then. */
export type Read<T> = (response: Response) => Promise<T> | T

export interface Result<T> {
  readonly data: T
  readonly response: Response
}

/** Sends a request, again where that is safe and may help. */
export async function send<T>(
  client: Client,
  request: PreparedRequest,
  options: RequestOptions,
  read: Read<T>,
): Promise<Result<T>> {
  const { body, headers } = request
  const most = body.isRepeatable ? (options.maxRetries ?? client.maxRetries) : 0
  try {
    for (let tries = 0; ; tries++) {
      const begun = performance.now()
      if (tries > 0) headers['x-retry-count'] = String(tries)
      try {
        const result = await attempt(client, request, options, read)
        logTry(client, request, begun, result.response)
        return result
      } catch (error) {
        const wait = tries < most && maySendAgain(request, error) ? waitBefore(tries, error) : undefined
        logTry(client, request, begun, error, wait)
        if (wait === undefined) throw error
        await pause(wait, options.signal)
      }
    }
  } catch (error) {
    body.release?.()
    const idempotencyKey = headers['idempotency-key']
    throw error instanceof SwitchboardError && idempotencyKey !== undefined
      ? Object.assign(error, { idempotencyKey })
      : error
  }
}

/** What may have been done already is sent again only where that does it no second time. */
function maySendAgain({ row }: PreparedRequest, error: unknown): boolean {
  if (error instanceof APIError && error.status === 429) return true
  if (error instanceof APIConnectionError && error.isRefused) return true
  const isHarmless = row.method === 'GET' || row.method === 'PUT' || row.key === true
  if (!isHarmless) return false
  if (!(error instanceof APIError)) return error instanceof APIConnectionError
  // A success that cannot be read leaves open whether a message was sent; under its key it can be asked for once more.
  if (error.status < 300) return row.key === true
  return error.status >= 500 || (error.status === 408 && !row.waits)
}

async function attempt<T>(
  client: Client,
  { row, url, headers, body }: PreparedRequest,
  options: RequestOptions,
  read: Read<T>,
): Promise<Result<T>> {
  const least = body.isLarge ? timeoutOfFiles : row.waits ? timeoutOfWaiting : 0
  const timeout = options.timeout ?? Math.max(client.timeout, least)
  const { signal } = options
  if (!(timeout > 0)) throw new SwitchboardError(`timeout must be above 0 ms, not ${timeout}`)
  if (signal?.aborted) throw makeAbortError(signal)
  const controller = new AbortController()
  const abort = () => controller.abort()
  signal?.addEventListener('abort', abort, { once: true })
  const state = { isLate: false }
  const timer = startTimer(() => {
    state.isLate = true
    controller.abort()
  }, timeout)
  const node = findDispatcher()
  const init = {
    ...(node && timeout > timeoutOfNode && client.fetch === platformFetch && liftLimits(node)),
    ...client.fetchOptions,
    ...options.fetchOptions,
    method: row.method,
    headers: { ...headers },
    signal: controller.signal,
    // A redirect would make a read of a write, and take headers to another host.
    redirect: 'manual' as const,
    ...(body.body !== undefined && { body: body.body }),
    ...(body.isLarge && { duplex: 'half' }),
    // For a redirect Node would keep a second copy of the whole body in memory. With both of these it need not. Not every place has them.
    ...(node && body.isLarge && { redirect: 'error' as const, window: null }),
  }
  try {
    const response = (await client.fetch(url, init)) as Response
    const { ok, status, headers } = response
    // Browsers hide where it leads, and have the status 0.
    if (!ok && status < 400) {
      controller.abort()
      // Its query has what was sent in ours.
      const place = headers.get('location')?.split('?')[0]
      throw new SwitchboardError(`${client.baseUrl} redirects to ${place ?? 'another address'}: give that as baseUrl`)
    }
    if (!ok) throw makeApiError(status, await readStart(response), headers)
    const data = await read(response)
    // A body that is read later still ends with the signal.
    if (data !== response) signal?.removeEventListener('abort', abort)
    return { data, response }
  } catch (error) {
    signal?.removeEventListener('abort', abort)
    if (error instanceof SwitchboardError) throw error
    if (signal?.aborted) throw makeAbortError(signal)
    if (state.isLate)
      throw new APIConnectionTimeoutError(`no response to ${row.name} within ${timeout} ms`, 'timeout', error)
    throw describeBreak(client, error)
  } finally {
    clearTimeout(timer)
  }
}

/** A dispatcher of Node, as far as it is used. */
interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean
}

/** The dispatcher of Node; other places have none. */
function findDispatcher(): Dispatcher | undefined {
  // Node 20 has it from the first use of one of these classes.
  const places = Response && (globalThis as { readonly [name: symbol]: Dispatcher | undefined })
  return places[Symbol.for('undici.globalDispatcher.1')]
}

/** Node ends a request after so long a silence unless its dispatcher has no limit. */
function liftLimits(node: Dispatcher): { readonly dispatcher: Dispatcher } {
  const unlimited = { headersTimeout: 0, bodyTimeout: 0 }
  return { dispatcher: { dispatch: (options, handler) => node.dispatch({ ...options, ...unlimited }, handler) } }
}

/** What an error says; a page or a stream without end is not read to its end. */
async function readStart(response: Response): Promise<string> {
  const reader = response.body?.getReader?.()
  // Some `fetch` have a body of another kind.
  if (!reader) return response.text()
  const decoder = new TextDecoder()
  let text = ''
  while (text.length < maxErrorLength) {
    const { done, value } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
  return text.slice(0, maxErrorLength)
}

/** Codes of Node for connections that were never made. */
const refusal = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(?:HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT)$/

interface Cause {
  readonly code?: unknown
  readonly message?: unknown
  readonly cause?: Cause
  readonly errors?: readonly Cause[]
}

function describeBreak({ baseUrl }: Client, error: unknown): APIConnectionError {
  const codes = codesOf(error as Cause)
  const reason = codes[0] ?? innermostMessage(error as Cause)
  const isRefused = codes.length > 0 && codes.every((code) => refusal.test(code))
  const what = isRefused ? 'cannot be reached' : 'did not send a whole response'
  const page = findForeignPage(baseUrl)
  const text = page === undefined ? what : `cannot be reached, or does not take requests of pages of ${page}`
  return new APIConnectionError(`${baseUrl} ${text} (${reason})`, reason, error, isRefused)
}

/** The origin of the page or worker that this runs in, where it is not the server's: browsers do not say that this is why. */
function findForeignPage(baseUrl: string): string | undefined {
  const { location } = globalThis as { readonly location?: { readonly origin?: string } }
  return location?.origin === new URL(baseUrl).origin ? undefined : location?.origin
}

function innermostMessage(error: Cause | undefined): string {
  return error?.cause ? innermostMessage(error.cause) : String(error?.message ?? error)
}

/** Node wraps the reason, and has one for each address of a host. */
function codesOf(error: Cause | undefined): string[] {
  if (typeof error !== 'object' || error === null) return []
  const inner = [...(error.errors ?? []), ...(error.cause ? [error.cause] : [])].flatMap(codesOf)
  if (inner.length > 0) return inner
  return typeof error.code === 'string' ? [error.code] : []
}
