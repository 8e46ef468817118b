import type { Client } from './client.ts'
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
  makeApiError,
  SwitchboardError,
} from './errors.ts'
import { logTry } from './log.ts'
import type { PreparedRequest, RequestOptions } from './request.ts'
import { pause, startTimer, waitBefore } from './retry.ts'

/** Waiting for something takes longer than other requests. */
const timeoutOfWaiting = 75_000
/** So does sending a file. */
const timeoutOfFiles = 600_000

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
  const most = request.body.isRepeatable ? (options.maxRetries ?? client.maxRetries) : 0
  for (let tries = 0; ; tries++) {
    const begun = performance.now()
    try {
      const result = await attempt(client, request, options, read)
      logTry(client, request, begun, result.response)
      return result
    } catch (error) {
      const wait = tries < most && maySendAgain(request, error) ? waitBefore(tries, error) : undefined
      logTry(client, request, begun, error, wait)
      if (wait === undefined) {
        request.body.release?.()
        throw error
      }
      await pause(wait, options.signal)
    }
  }
}

/** What may have been done already is sent again only where that does it no second time. */
function maySendAgain({ row }: PreparedRequest, error: unknown): boolean {
  if (error instanceof APIError && error.status === 429) return true
  if (error instanceof APIConnectionError && error.isRefused) return true
  const isHarmless = row.method === 'GET' || row.method === 'PUT' || row.key === true
  if (!isHarmless) return false
  if (error instanceof APIError) return error.status >= 500 || (error.status === 408 && !row.waits)
  return error instanceof APIConnectionError
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
  if (signal?.aborted) throw new APIUserAbortError('the request was aborted', { cause: signal.reason })
  const controller = new AbortController()
  const abort = () => controller.abort()
  signal?.addEventListener('abort', abort, { once: true })
  const state = { isLate: false }
  const timer = startTimer(() => {
    state.isLate = true
    controller.abort()
  }, timeout)
  // A redirect would make a read of a write.
  const redirect = row.method === 'GET' ? 'follow' : 'manual'
  const init: RequestInit & { duplex?: 'half' } = { method: row.method, headers, signal: controller.signal, redirect }
  if (body.body !== undefined) init.body = body.body as NonNullable<RequestInit['body']>
  // For a redirect Node would keep a second copy of the whole body in memory. With both of these it need not.
  if (body.isLarge) Object.assign(init, { redirect: 'error', window: null, duplex: 'half' })
  try {
    const response = await client.fetch(url, init)
    const { status } = response
    // Browsers hide where it leads, and have the status 0.
    if (!response.ok && status < 400) {
      const place = response.headers.get('location') ?? 'another address'
      throw new SwitchboardError(`${client.baseUrl} redirects to ${place}: give that as baseUrl`)
    }
    if (!response.ok) throw makeApiError(status, await response.text(), response.headers)
    const data = await read(response)
    // A body that is read later still ends with the signal.
    if (data !== response) signal?.removeEventListener('abort', abort)
    return { data, response }
  } catch (error) {
    signal?.removeEventListener('abort', abort)
    if (error instanceof SwitchboardError) throw error
    if (signal?.aborted) throw new APIUserAbortError('the request was aborted', { cause: signal.reason })
    if (state.isLate)
      throw new APIConnectionTimeoutError(`no response to ${row.name} within ${timeout} ms`, 'timeout', error)
    throw describeBreak(client, error)
  } finally {
    clearTimeout(timer)
  }
}

/** Codes of Node for connections that were never made. */
const refusals = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']

interface Cause {
  readonly code?: unknown
  readonly message?: unknown
  readonly cause?: Cause
  readonly errors?: readonly Cause[]
}

function describeBreak({ baseUrl }: Client, error: unknown): APIConnectionError {
  const codes = codesOf(error as Cause)
  const reason = codes[0] ?? innermostMessage(error as Cause)
  const isRefused = codes.length > 0 && codes.every((code) => refusals.includes(code))
  const what = isRefused ? 'cannot be reached' : 'did not send a whole response'
  const page = findForeignPage(baseUrl)
  const text =
    page === undefined
      ? `${what} (${reason})`
      : `cannot be reached, or does not take requests of pages of ${page} (${reason}): let the origin of the page hand them on`
  return new APIConnectionError(`${baseUrl} ${text}`, reason, error, isRefused)
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
