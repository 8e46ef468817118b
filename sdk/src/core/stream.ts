import { begin } from './call.ts'
import type { AnyClient as Client, Row } from './client.ts'
import { APIConnectionError, APIError, APIUserAbortError, SwitchboardError } from './errors.ts'
import { readEvents } from './events.ts'
import type { Params, RequestOptions } from './request.ts'
import { backOff, pause, startTimer } from './retry.ts'

/** Where a stream begins anew: what happened since the last event is not known any more. */
export interface StreamReset {
  readonly id: string | undefined
  readonly event: 'reset'
  readonly data: Record<string, never>
}

export interface StreamOptions extends RequestOptions {
  /** Begins behind this event, the `id` of one that was seen before. */
  readonly lastEventId?: string | undefined
  /** Milliseconds without a sign of life after which it connects anew; 45,000 when left out. The server sends one every 15 s. */
  readonly idleTimeout?: number | undefined
  /** Called when the server listens, and when the connection is lost or could not be made: then it is tried again. */
  readonly onConnection?: ((isOpen: boolean) => void) | undefined
}

type Connect = (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>

/**
 * Events as they happen. It connects at once, and again whenever the connection ends, behind the last event that was read; it ends by
 * `close()`, by leaving the loop, by `signal`, or with an error when the server refuses it.
 */
export class EventStream<E> implements AsyncIterable<E> {
  /** Resolves when the server listens: what happens from then on is read. */
  readonly opened: Promise<void>
  /** The id of the last event that was read. */
  lastEventId: string | undefined
  readonly #connect: Connect
  readonly #end = new AbortController()
  readonly #idleTimeout: number
  readonly #signal: AbortSignal | undefined
  readonly #onConnection: ((isOpen: boolean) => void) | undefined
  /** Of the connection that there is: a signal of the whole stream would keep something of every connection there ever was. */
  #connection = new AbortController()
  #pending: Promise<Response>

  constructor(connect: Connect, { lastEventId, idleTimeout = 45_000, signal, onConnection }: StreamOptions) {
    this.lastEventId = lastEventId
    this.#connect = connect
    this.#idleTimeout = idleTimeout
    this.#signal = signal
    this.#onConnection = onConnection
    if (signal?.aborted) this.close()
    signal?.addEventListener('abort', this.close, { once: true })
    this.#pending = this.#open()
    this.opened = this.#pending.then(() => undefined)
    // Whoever reads gets the error too; whoever does neither did not ask.
    this.opened.catch(() => undefined)
  }

  /** Ends it: whoever reads is done. */
  readonly close = (): void => {
    this.#end.abort()
    this.#connection.abort()
    this.#signal?.removeEventListener('abort', this.close)
    this.#pending?.then((response) => response.body?.cancel()).catch(() => undefined)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, undefined> {
    try {
      for (let tries = 0; ; tries++) {
        const response = await this.#connectAgain()
        if (!response) return
        this.#onConnection?.(true)
        for await (const event of this.#read(response)) {
          tries = 0
          yield event
        }
        if (this.#end.signal.aborted) return
        this.#onConnection?.(false)
        await pause(backOff(tries), this.#end.signal).catch(() => undefined)
        this.#pending = this.#open()
      }
    } finally {
      this.close()
    }
  }

  #open(): Promise<Response> {
    this.#connection = new AbortController()
    if (this.#end.signal.aborted) this.#connection.abort()
    return this.#connect(this.lastEventId, this.#connection.signal)
  }

  /** A response to read from; undefined when it was closed. Throws what the server refuses for good. */
  async #connectAgain(): Promise<Response | undefined> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#pending
      } catch (error) {
        if (this.#end.signal.aborted) return this.#endQuietly()
        if (!isPassing(error)) throw error
        this.#onConnection?.(false)
        await pause(backOff(tries), this.#end.signal).catch(() => undefined)
        if (this.#end.signal.aborted) return this.#endQuietly()
        this.#pending = this.#open()
      }
    }
  }

  #endQuietly(): undefined {
    if (this.#signal?.aborted) throw new APIUserAbortError('the stream was aborted', { cause: this.#signal.reason })
  }

  /** The events of one connection, until it ends or nothing is heard of it. */
  async *#read(response: Response): AsyncGenerator<E> {
    if (!response.body) return
    const cut = () => void response.body?.cancel().catch(() => undefined)
    const events = readEvents(response.body)
    try {
      for (;;) {
        const next = await withinTime(events.next(), this.#idleTimeout)
        if (!next || next.done) return
        if (!next.value) continue
        const { id, event, data } = next.value
        if (id !== undefined) this.lastEventId = id
        yield { id, event, data: parse(data) } as E
      }
    } catch (error) {
      // A connection that broke: the next one goes on behind the last event. What is no event is a fault of the server.
      if (error instanceof SwitchboardError) throw error
    } finally {
      cut()
    }
  }
}

/** Whether another connection may fare better. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof APIError)) return error instanceof APIConnectionError
  return error.status >= 500 || error.status === 408 || error.status === 429
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new SwitchboardError('an event of the stream is no JSON', { cause })
  }
}

/** Undefined when it takes longer. */
async function withinTime<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = startTimer(() => resolve(undefined), milliseconds)
    // In Node the connection decides whether the process goes on, not this timer.
    ;(timer as { unref?(): unknown } | undefined)?.unref?.()
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Opens a row that answers with a stream of events. */
export function streamRow<E>(
  client: Client,
  row: Row,
  args: readonly string[],
  params?: Params,
  options: StreamOptions = {},
): EventStream<E> {
  const connect: Connect = async (lastEventId, signal) => {
    const headers = { ...options.headers, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) }
    const result = begin(client, row, args, params, { ...options, headers, signal }, undefined, (response) => response)
    return (await result).data
  }
  return new EventStream(connect, options)
}
