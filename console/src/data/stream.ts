import { type Signal, signal } from '@preact/signals'
import type { EventStream, StreamOptions } from '@switchboard/client/methods'

export interface StreamEvent {
  readonly id: string | undefined
  readonly event: string
  readonly data: unknown
}

export type Link = 'connecting' | 'open' | 'lost'

export interface FollowedStream<E extends StreamEvent> {
  /** The method of the client that opens it. */
  readonly open: (options: StreamOptions) => EventStream<E>
  readonly onEvent: (event: E) => void
  /** What was sent before this is not known any more, or this is the first time: read everything again. */
  readonly onFresh: () => void
}

/** A hidden page lets go of its connection after this: a browser has few for one host. */
const hiddenTimeoutMs = 30_000
/** After a refusal, which the client does not repeat. */
const pauseAfterRefusal = 5000

/** A stream of the service for as long as the page is looked at: it goes on behind the last event that was read. */
export class Stream<E extends StreamEvent> {
  readonly link: Signal<Link> = signal<Link>('connecting')
  readonly #options: FollowedStream<E>
  #lastId: string | undefined
  #stream: EventStream<E> | undefined
  #hiddenTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: FollowedStream<E>) {
    this.#options = options
  }

  start(): void {
    document.addEventListener('visibilitychange', this.#onVisibility)
    void this.#run()
  }

  readonly #onVisibility = (): void => {
    clearTimeout(this.#hiddenTimer)
    if (document.hidden) this.#hiddenTimer = setTimeout(() => this.#stream?.close(), hiddenTimeoutMs)
  }

  async #run(): Promise<void> {
    for (;;) {
      await whenVisible()
      try {
        await this.#listen()
      } catch {
        this.link.value = 'lost'
        await new Promise((resolve) => setTimeout(resolve, pauseAfterRefusal))
      }
    }
  }

  async #listen(): Promise<void> {
    const stream = this.#options.open({ lastEventId: this.#lastId, onConnection: (isOpen) => this.#onLink(isOpen) })
    this.#stream = stream
    for await (const event of stream) {
      this.#lastId = event.id ?? this.#lastId
      if (event.event === 'reset') this.#options.onFresh()
      else this.#options.onEvent(event)
    }
  }

  #onLink(isOpen: boolean): void {
    if (isOpen || !document.hidden) this.link.value = isOpen ? 'open' : 'lost'
    // Read after the stream is open: what happens in between comes twice and is never missed.
    if (isOpen && this.#lastId === undefined) this.#options.onFresh()
  }
}

function whenVisible(): Promise<void> {
  if (!document.hidden) return Promise.resolve()
  return new Promise((resolve) => {
    const onChange = () => {
      if (document.hidden) return
      document.removeEventListener('visibilitychange', onChange)
      resolve()
    }
    document.addEventListener('visibilitychange', onChange)
  })
}
