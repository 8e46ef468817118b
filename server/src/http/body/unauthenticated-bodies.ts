import type { IncomingMessage } from 'node:http'
import { sourceOf } from '../../base/text/addresses.ts'
import { formatDuration } from '../../base/time/duration.ts'
import { bodyBrokeOff } from '../../graph/errors.ts'
import type { GraphError } from '../../graph/graph-error.ts'
import { bodyInTooManyPieces, bodyTooLarge, bodyTooLate, tooManyUnauthenticatedBodies } from '../errors.ts'
import { closeBehind, usualPiece } from './rest-of-body.ts'

export interface UnauthenticatedBodiesOptions {
  readonly maxBytesPerAddress: number
  /** Milliseconds for a whole body. */
  readonly timeout: number
}

/** So many addresses can hold all that they may before the oldest body of all is refused. */
const fullAddresses = 4
/** How much of a body Node buffers before anybody reads it. */
const readAhead = 131_072
const smallestPage = 4096
const largestPage = 262_144
/** A body in chunks smaller than this costs too much processor time after so many of them. */
const smallestPiece = 128
const freePieces = 256

/**
 * The bodies of callers who are not authenticated yet, within a budget of bytes for the process and one for each address. When a
 * budget is used up, the oldest body is refused: an honest body arrives quickly, so the oldest one is most likely blocking the
 * others.
 */
export class UnauthenticatedBodies {
  readonly #options: UnauthenticatedBodiesOptions
  readonly #maxBytes: number
  /** The oldest first. */
  readonly #bodies = new Set<UnauthenticatedBody>()
  #heldBytes = 0
  readonly #heldBySource = new Map<string, number>()

  constructor(options: UnauthenticatedBodiesOptions) {
    this.#options = options
    this.#maxBytes = fullAddresses * options.maxBytesPerAddress
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Begins to receive a body. The caller must release it, authenticated or not. */
  open(request: IncomingMessage, address: string, maxBytes: number): UnauthenticatedBody {
    const source = sourceOf(address)
    const body: UnauthenticatedBody = new UnauthenticatedBody(request, {
      source,
      maxBytes,
      timeout: this.#options.timeout,
      take: (bytes) => this.#take(body, bytes),
      release: () => this.#release(body),
    })
    this.#bodies.add(body)
    body.reserve()
    return body
  }

  #take(body: UnauthenticatedBody, bytes: number): void {
    this.#count(body.source, bytes)
    for (const other of this.#bodies) {
      if ((this.#heldBySource.get(body.source) ?? 0) <= this.#options.maxBytesPerAddress) break
      if (other.source === body.source) other.refuse(tooManyUnauthenticatedBodies({ seconds: 1 }))
    }
    for (const other of this.#bodies) {
      if (this.#heldBytes <= this.#maxBytes) break
      other.refuse(tooManyUnauthenticatedBodies({ seconds: 1 }))
    }
  }

  #release(body: UnauthenticatedBody): void {
    this.#bodies.delete(body)
    this.#count(body.source, -body.heldBytes)
  }

  #count(source: string, bytes: number): void {
    this.#heldBytes += bytes
    const held = (this.#heldBySource.get(source) ?? 0) + bytes
    if (held > 0) this.#heldBySource.set(source, held)
    else this.#heldBySource.delete(source)
  }
}

interface BodyOptions {
  readonly source: string
  readonly maxBytes: number
  readonly timeout: number
  /** Reserves room before it is used. */
  readonly take: (bytes: number) => void
  readonly release: () => void
}

/** One such body, with its bytes in pages of our own, because each chunk from Node costs far more than its bytes. */
export class UnauthenticatedBody {
  readonly source: string
  readonly #request: IncomingMessage
  readonly #options: BodyOptions
  #pages: Buffer[] = []
  /** How much of the last page is used. */
  #used = 0
  #length = 0
  #heldBytes = 0
  #pieces = 0
  #refusal: GraphError | undefined
  #onRefusal: (() => void) | undefined

  constructor(request: IncomingMessage, options: BodyOptions) {
    this.#request = request
    this.#options = options
    this.source = options.source
  }

  /** Reserves room for Node's buffer. */
  reserve(): void {
    const { maxBytes } = this.#options
    this.#take(Math.min(readAhead, maxBytes, Number(this.#request.headers['content-length'] ?? maxBytes)))
  }

  /** Its share of the budget. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** The cost of receiving it, in bytes of chunks of the usual size. */
  get costInBytes(): number {
    return this.#length + this.#pieces * usualPiece
  }

  /** Passes on the chunks one at a time, each after the previous is processed; resolves at the end of the body. */
  read(use: (bytes: Buffer) => Promise<void> | undefined): Promise<void> {
    const request = this.#request
    const { timeout, maxBytes } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let isUsing = false
    let hasEnded = false
    const settle = (error?: unknown) => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak)
      this.#onRefusal = undefined
      if (error === undefined) resolve()
      else {
        request.pause()
        reject(error)
      }
    }
    const onData = (chunk: Buffer) => {
      try {
        const used = this.#keep(chunk, use)
        if (!used) return
        isUsing = true
        request.pause()
        used.then(() => {
          isUsing = false
          if (hasEnded) settle()
          else request.resume()
        }, settle)
      } catch (error) {
        settle(error)
      }
    }
    const onEnd = () => {
      hasEnded = true
      // 'close' also follows a normal end, perhaps while the last chunk is still in use.
      request.off('close', onBreak)
      if (!isUsing) settle()
    }
    const onBreak = () => settle(bodyBrokeOff())
    this.#onRefusal = () => settle(this.#refusal)
    const timer = setTimeout(() => this.refuse(bodyTooLate({ period: formatDuration(timeout) })), timeout)
    if (this.#refusal) settle(this.#refusal)
    else if (Number(request.headers['content-length']) > maxBytes) this.refuse(bodyTooLarge({ max: maxBytes }))
    else if (request.destroyed) onBreak()
    else request.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak)
    return promise
  }

  /** Ends it with an error, and closes the connection: the rest is not awaited. */
  refuse(error: GraphError): void {
    this.#refusal ??= closeBehind(error)
    this.#drop()
    this.#onRefusal?.()
  }

  /** The whole body, once its sender is known. */
  take(): Buffer {
    const pages = this.#pages.map((page, index) =>
      index === this.#pages.length - 1 ? page.subarray(0, this.#used) : page,
    )
    return pages.length === 1 ? (pages[0] as Buffer) : Buffer.concat(pages)
  }

  release(): void {
    this.#drop()
  }

  #drop(): void {
    this.#options.release()
    this.#heldBytes = 0
    this.#pages = []
  }

  /** Copies a chunk, and passes on the copies. */
  #keep(chunk: Buffer, use: (bytes: Buffer) => Promise<void> | undefined): Promise<void> | undefined {
    const { maxBytes } = this.#options
    this.#pieces += 1
    if (this.#pieces > freePieces + this.#length / smallestPiece) throw this.#fail(bodyInTooManyPieces())
    if (this.#length + chunk.length > maxBytes) throw this.#fail(bodyTooLarge({ max: maxBytes }))
    const copies: Buffer[] = []
    for (let rest = chunk; rest.length > 0; ) {
      const page = this.#openPage()
      const copied = rest.copy(page, this.#used)
      copies.push(page.subarray(this.#used, this.#used + copied))
      this.#used += copied
      this.#length += copied
      rest = rest.subarray(copied)
    }
    if (copies.length === 1) return use(copies[0] as Buffer)
    return useInOrder(copies, use)
  }

  /** The last page, or a new one when it is full. Pages grow with the body, but not beyond its limit. */
  #openPage(): Buffer {
    const last = this.#pages.at(-1)
    if (last && this.#used < last.length) return last
    const wanted = Math.max(smallestPage, Math.min(this.#length, largestPage))
    const size = Math.min(wanted, this.#options.maxBytes - this.#length)
    this.#take(size)
    if (this.#refusal) throw this.#refusal
    const page = Buffer.allocUnsafeSlow(size)
    this.#pages.push(page)
    this.#used = 0
    return page
  }

  #take(bytes: number): void {
    this.#heldBytes += bytes
    this.#options.take(bytes)
  }

  #fail(error: GraphError): GraphError {
    this.refuse(error)
    return this.#refusal ?? error
  }
}

async function useInOrder(copies: readonly Buffer[], use: (bytes: Buffer) => Promise<void> | undefined): Promise<void> {
  for (const bytes of copies) await use(bytes)
}
