import type { EventStream, StreamOptions } from '@switchboard/client/methods'
import type { Link, StreamEvent } from './protocol.ts'

/** How many events are kept for a page that comes back. */
const keptEvents = 2000
/** After a refusal, which the client does not repeat; a page that has renewed the session skips the wait. */
const pauseAfterRefusal = 5000

export interface StreamListener {
  readonly onEvent: (event: StreamEvent) => void
  /** What was sent before this is not known: everything has to be read again. */
  readonly onFresh: () => void
  readonly onLink: (link: Link) => void
  readonly onRefused: () => void
}

/** The method of the client that opens a stream. */
export type OpenStream = (options: StreamOptions) => EventStream<StreamEvent>

/** One connection to a stream of the service, for several readers: it resumes behind its last event, and keeps the last ones. */
export class KeptStream {
  readonly #open: OpenStream
  readonly #listener: StreamListener
  #link: Link = 'connecting'
  #kept: StreamEvent[] = []
  /** The id before the first event that is kept: whoever saw that one has missed all of them. */
  #from: string | undefined
  #lastId: string | undefined
  #run: AbortController | undefined
  #skipWait: (() => void) | undefined

  constructor(open: OpenStream, listener: StreamListener) {
    this.#open = open
    this.#listener = listener
  }

  get link(): Link {
    return this.#link
  }

  /** Connects behind the last event; where none is known, behind the one that a reader saw. */
  start(after?: string): void {
    if (this.#run) return
    if (this.#lastId === undefined && after !== undefined) {
      this.#lastId = after
      this.#from = after
    }
    this.#run = new AbortController()
    void this.#follow(this.#run.signal)
  }

  /** Ends the connection; what is kept stays, so that the next one resumes. */
  stop(): void {
    this.#run?.abort()
    this.#run = undefined
    this.#setLink('connecting')
  }

  retry(): void {
    this.#skipWait?.()
  }

  /** The events behind one; undefined when it is not known any more, or never was. */
  listAfter(id: string): readonly StreamEvent[] | undefined {
    if (id === this.#from) return this.#kept
    const index = this.#kept.findLastIndex((event) => event.id === id)
    return index < 0 ? undefined : this.#kept.slice(index + 1)
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#read(signal)
      } catch {
        if (signal.aborted) return
        this.#setLink('lost')
        this.#listener.onRefused()
        await this.#waitForRetry(signal)
      }
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const onConnection = (isOpen: boolean) => {
      if (signal.aborted) return
      // Read after the stream is open: what happens in between comes twice and is never missed.
      if (isOpen && this.#lastId === undefined) this.#listener.onFresh()
      this.#setLink(isOpen ? 'open' : 'lost')
    }
    const stream = this.#open({ lastEventId: this.#lastId, onConnection })
    signal.addEventListener('abort', stream.close)
    try {
      for await (const event of stream) {
        if (signal.aborted) return
        this.#onEvent(event)
      }
    } finally {
      signal.removeEventListener('abort', stream.close)
    }
  }

  #onEvent(event: StreamEvent): void {
    this.#lastId = event.id ?? this.#lastId
    if (event.event === 'reset') {
      this.#kept = []
      this.#from = this.#lastId
      this.#listener.onFresh()
      return
    }
    this.#kept.push(event)
    // Seldom, because it moves all of them.
    if (this.#kept.length > 2 * keptEvents) {
      const dropped = this.#kept.splice(0, this.#kept.length - keptEvents)
      this.#from = dropped.at(-1)?.id
    }
    this.#listener.onEvent(event)
  }

  #setLink(link: Link): void {
    if (this.#link === link) return
    this.#link = link
    this.#listener.onLink(link)
  }

  #waitForRetry(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseAfterRefusal)
      this.#skipWait = () => {
        clearTimeout(timer)
        resolve()
      }
      signal.addEventListener('abort', this.#skipWait, { once: true })
    })
  }
}
