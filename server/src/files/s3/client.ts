import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { type Dispatcher, Pool } from 'undici'
import type { Log } from '../../base/log/log.ts'
import { minute, second } from '../../base/time/duration.ts'
import type { ByteRange } from '../file-store.ts'
import { FilesUnavailable } from '../unavailable.ts'
import type { CredentialProvider, Credentials } from './credentials/credentials.ts'
import type { ObjectLocation } from './location.ts'
import { emptyHash, Signer } from './sign.ts'
import { type Page, readErrorCode, readPage } from './xml.ts'

export interface ObjectClientOptions {
  readonly location: ObjectLocation
  readonly credentials: CredentialProvider
  /** Milliseconds without any sign of life after which a request is given up. */
  readonly timeout: number
  readonly log: Log
  /** For signatures: object storage compares their time with its own, so this is the real one. */
  readonly now?: () => number
}

/** Bytes whose length and hash are known. */
export interface ObjectBody {
  readonly size: number
  readonly sha256: string
  /** From the beginning, each time it is called. */
  readonly open: () => AsyncIterable<Uint8Array> | Uint8Array
}

interface Asked {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly range?: ByteRange | undefined
  readonly body?: ObjectBody
}

type Response = Dispatcher.ResponseData

const maxConnections = 128
const connectTimeout = 10 * second
/** How long to wait before a request is repeated, in milliseconds; each is harmless to repeat. */
const pauses = [100, 400]
const maxErrorBytes = 16_384
const reportAgainAfter = minute

/** What stores answer when they have no room. */
const fullCodes = new Set([
  'QuotaExceeded',
  'InsufficientStorage',
  'XMinioStorageFull',
  'ServiceQuotaExceededException',
])
/** What stores answer when a session token is over: Amazon with 400, others with 403. */
const expiredCodes = new Set(['ExpiredToken', 'ExpiredTokenException', 'TokenRefreshRequired'])
const passingCodes = new Set(['RequestTimeout', 'SlowDown', 'InternalError', 'ServiceUnavailable', 'OperationAborted'])

/**
 * The few requests to S3-compatible object storage that the service needs. A request that fails is repeated for a while; then it is a
 * `FilesUnavailable`, which is logged once a minute, however many run into it.
 */
export class ObjectClient {
  readonly #options: ObjectClientOptions
  readonly #pool: Pool
  readonly #signer: Signer
  #failures = 0
  #reportedTime = -Infinity

  constructor(options: ObjectClientOptions) {
    const { location, timeout } = options
    this.#options = options
    this.#signer = new Signer(location.region)
    // Not the guarded egress of callbacks: the operator names this address, which is often an internal one.
    this.#pool = new Pool(location.origin, {
      connections: maxConnections,
      headersTimeout: timeout,
      bodyTimeout: timeout,
      connect: { timeout: Math.min(timeout, connectTimeout) },
      allowH2: false,
    })
  }

  async put(key: string, body: ObjectBody): Promise<void> {
    const response = await this.#send({ method: 'PUT', key, body })
    await response?.body.dump()
  }

  /** The object, or a part of it; undefined when it does not exist. `size` is that of the whole. */
  async get(key: string, range?: ByteRange): Promise<{ body: Readable; size: number } | undefined> {
    const response = await this.#send({ method: 'GET', key, range })
    if (!response) return undefined
    const { headers, statusCode, body } = response
    const total = /\/(\d+)$/.exec(String(headers['content-range']))?.[1]
    if (range && (statusCode !== 206 || total === undefined)) {
      body.destroy()
      throw this.#note(new FilesUnavailable('refused', 'the object storage does not serve parts of objects'))
    }
    return { body, size: Number(total ?? headers['content-length']) }
  }

  /** The size of an object, and when it was stored; undefined when it does not exist. */
  async head(key: string): Promise<{ size: number; stored_time: number } | undefined> {
    const response = await this.#send({ method: 'HEAD', key })
    if (!response) return undefined
    await response.body.dump()
    const { 'content-length': size, 'last-modified': time } = response.headers
    return { size: Number(size), stored_time: Date.parse(String(time)) }
  }

  async delete(key: string): Promise<void> {
    const response = await this.#send({ method: 'DELETE', key })
    await response?.body.dump()
  }

  /** The keys below a prefix, page by page; with a delimiter, those up to it as `prefixes`. */
  async *list(prefix: string, delimiter?: string): AsyncGenerator<Page> {
    let next: string | undefined
    do {
      const query = {
        'list-type': '2',
        prefix: this.#options.location.prefix + prefix,
        ...(delimiter !== undefined && { delimiter }),
        ...(next !== undefined && { 'continuation-token': next }),
      }
      const response = await this.#send({ method: 'GET', key: '', query })
      if (!response) throw this.#note(new FilesUnavailable('refused', 'the object storage lists nothing'))
      const page = readPage(await this.#readText(response))
      const cut = (name: string) => name.slice(this.#options.location.prefix.length)
      yield { keys: page.keys.map(cut), prefixes: page.prefixes.map(cut), next: page.next }
      next = page.next
    } while (next !== undefined)
  }

  async close(): Promise<void> {
    this.#options.credentials.close()
    await this.#pool.destroy()
  }

  /** Undefined: there is no such object. Repeats what may pass, for no longer than the timeout. */
  async #send(asked: Asked): Promise<Response | undefined> {
    const started = performance.now()
    for (let tries = 0; ; tries += 1) {
      try {
        const response = await this.#sendOnce(asked)
        // A HEAD finds nothing as well where the bucket is missing.
        if (response || asked.method !== 'HEAD') this.#noteSuccess()
        return response
      } catch (error) {
        // A mistake of ours, and not of the network.
        if (error instanceof TypeError || error instanceof RangeError) throw error
        const wait = pauses[tries]
        const failure = error instanceof FilesUnavailable ? error : new FilesUnavailable('away', describe(error), error)
        const isOver = performance.now() - started > this.#options.timeout
        if (failure.kind !== 'away' || wait === undefined || isOver) throw this.#note(failure)
        await pause(wait)
      }
    }
  }

  /** Once more with other credentials where those at hand have expired. */
  async #sendOnce(asked: Asked): Promise<Response | undefined> {
    const { credentials } = this.#options
    const { method } = asked
    const used = await credentials.get()
    const response = await this.#exchange(asked, used)
    if (isSuccess(response)) return response
    const code = readErrorCode(await this.#readText(response))
    const others = saysExpired(method, response.statusCode, code) ? await credentials.replace(used) : undefined
    if (!others) return refuse(method, response.statusCode, code)
    const second = await this.#exchange(asked, others)
    if (isSuccess(second)) return second
    return refuse(method, second.statusCode, readErrorCode(await this.#readText(second)))
  }

  async #exchange({ method, key, query = {}, range, body }: Asked, credentials: Credentials): Promise<Response> {
    const { location, now = Date.now } = this.#options
    const path = key === '' ? location.root || '/' : `${location.root}/${location.prefix}${key}`
    const plain = {
      ...(range && { range: `bytes=${range.start}-${range.end}` }),
      ...(body && { 'content-type': 'application/octet-stream' }),
    }
    const bodyHash = body?.sha256 ?? emptyHash
    const unsigned = { method, origin: location.origin, path, query, headers: plain, bodyHash }
    const { target, headers } = await this.#signer.sign(unsigned, credentials, now())
    return this.#pool.request({
      method,
      path: target,
      headers: { ...headers, ...(body && { 'content-length': String(body.size) }) },
      // Iterables are sent chunk by chunk, which the types do not say. Unlike a stream they are not read ahead.
      body: body ? ((body.size === 0 ? new Uint8Array() : body.open()) as Uint8Array) : null,
    })
  }

  async #readText({ body, statusCode }: Response): Promise<string> {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (statusCode >= 300 && size > maxErrorBytes) break
    }
    return Buffer.concat(chunks).toString()
  }

  #note(failure: FilesUnavailable): FilesUnavailable {
    this.#failures += 1
    if (performance.now() - this.#reportedTime >= reportAgainAfter) {
      const { log } = this.#options
      log.error(
        { failures: this.#failures, err: failure.message },
        'files cannot be stored or read: requests are refused',
      )
      this.#reportedTime = performance.now()
      this.#failures = 0
    }
    return failure
  }

  #noteSuccess(): void {
    if (this.#reportedTime === -Infinity) return
    this.#reportedTime = -Infinity
    this.#failures = 0
    this.#options.log.warn('the object storage works again')
  }
}

function isSuccess({ statusCode }: Response): boolean {
  return statusCode >= 200 && statusCode < 300
}

/** Whether credentials have expired. A response to HEAD has no body, so no code says why it was refused: then they may have. */
function saysExpired(method: string, statusCode: number, code: string | undefined): boolean {
  if (code !== undefined) return expiredCodes.has(code)
  return method === 'HEAD' && (statusCode === 400 || statusCode === 403)
}

/** Throws what a response that is no success means; undefined: there is no such object. */
function refuse(method: string, statusCode: number, code: string | undefined): undefined {
  // Without the name of the error (HEAD has no body) it is the object that is missing, and not the bucket.
  if (statusCode === 404 && method !== 'PUT' && (code === undefined || code === 'NoSuchKey')) return undefined
  const message = `the object storage answered ${method} with ${statusCode}${code === undefined ? '' : ` ${code}`}`
  if (statusCode === 507 || fullCodes.has(code ?? '')) throw new FilesUnavailable('full', message)
  const isPassing = statusCode >= 500 || statusCode === 429 || statusCode === 408 || passingCodes.has(code ?? '')
  throw new FilesUnavailable(isPassing ? 'away' : 'refused', message)
}

/** A refused connection to a name with several addresses is an AggregateError with an empty message. */
function describe(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string }
  return `the object storage does not respond: ${code ?? message ?? 'unknown error'}`
}
