import { KeptStream, type OpenStream } from './kept-stream.ts'
import { type StreamName, streamNames, type ToHub, type ToPage } from './protocol.ts'

/** Streams that nobody looks at are closed after this: a browser has few connections to one host. */
export const unwatchedMilliseconds = 30_000
/** How often a page says that it is there. */
export const hereMilliseconds = 15_000
/** A visible page that was silent for so long has crashed. Timers of hidden pages are slower, but hidden pages hold nothing open. */
const silentMilliseconds = 3 * hereMilliseconds
/** A hidden page that was silent for so long is forgotten; when it speaks again, it is known again. */
const forgottenMilliseconds = 600_000

interface Page {
  readonly post: (message: ToPage) => void
  /** What it reads; `isBehind`: it has to read everything when the stream is open. */
  readonly readers: Map<StreamName, { isBehind: boolean }>
  isVisible: boolean
  heardAt: number
}

/**
 * Holds each stream of the service once for all pages of a browser: in a worker that they share, or in the page itself where a browser
 * has no such workers. A stream is open while a visible page reads it.
 */
export class StreamHub {
  readonly #streams: Readonly<Record<StreamName, KeptStream>>
  readonly #pages = new Set<Page>()
  #unwatchedTimer: ReturnType<typeof setTimeout> | undefined
  #sweepTimer: ReturnType<typeof setInterval> | undefined

  constructor(open: Readonly<Record<StreamName, OpenStream>>) {
    this.#streams = {
      feed: this.#keep('feed', open.feed),
      phones: this.#keep('phones', open.phones),
    }
  }

  /** A page comes; returns what takes its messages. */
  connect(post: (message: ToPage) => void): (message: ToHub) => void {
    const page: Page = { post, readers: new Map(), isVisible: true, heardAt: Date.now() }
    post({ type: 'welcome' })
    return (message) => this.#receive(page, message)
  }

  close(): void {
    this.#pages.clear()
    this.#update()
    this.#closeStreams()
  }

  #keep(name: StreamName, open: OpenStream): KeptStream {
    const tell = (message: ToPage) => {
      for (const page of this.#pages) if (page.readers.has(name)) page.post(message)
    }
    return new KeptStream(open, {
      onEvent: (event) => tell({ type: 'event', stream: name, event }),
      onFresh: () => {
        for (const page of this.#pages) this.#refresh(page, name)
      },
      onLink: (link) => {
        tell({ type: 'link', stream: name, link })
        if (link !== 'open') return
        for (const page of this.#pages) if (page.readers.get(name)?.isBehind) this.#refresh(page, name)
      },
      onRefused: () => tell({ type: 'refused' }),
    })
  }

  #refresh(page: Page, name: StreamName): void {
    const reader = page.readers.get(name)
    if (!reader) return
    reader.isBehind = false
    page.post({ type: 'fresh', stream: name })
  }

  #receive(page: Page, message: ToHub): void {
    page.heardAt = Date.now()
    if (message.type === 'bye') this.#pages.delete(page)
    else this.#pages.add(page)
    switch (message.type) {
      case 'here':
        page.isVisible = message.isVisible
        break
      case 'join':
        this.#join(page, message.stream, message.after)
        break
      case 'leave':
        page.readers.delete(message.stream)
        break
      case 'retry':
        for (const name of streamNames) this.#streams[name].retry()
        break
    }
    this.#update()
  }

  #join(page: Page, name: StreamName, after: string | undefined): void {
    const stream = this.#streams[name]
    const reader = { isBehind: false }
    page.readers.set(name, reader)
    if (this.#isWatched(name)) stream.start(after)
    page.post({ type: 'link', stream: name, link: stream.link })
    const missed = after === undefined ? undefined : stream.listAfter(after)
    for (const event of missed ?? []) page.post({ type: 'event', stream: name, event })
    reader.isBehind = missed === undefined
    if (reader.isBehind && stream.link === 'open') this.#refresh(page, name)
  }

  #isWatched(name?: StreamName): boolean {
    const since = Date.now() - silentMilliseconds
    return [...this.#pages].some(
      ({ isVisible, heardAt, readers }) =>
        isVisible && heardAt > since && (name === undefined ? readers.size > 0 : readers.has(name)),
    )
  }

  #update(): void {
    if (this.#pages.size === 0) {
      clearInterval(this.#sweepTimer)
      this.#sweepTimer = undefined
    } else this.#sweepTimer ??= setInterval(() => this.#sweep(), hereMilliseconds)
    for (const name of streamNames) {
      if (this.#isWatched(name)) this.#streams[name].start()
      // A page that has just come has not said yet what it reads: what is open waits for it with the timer below.
      else if (this.#isWatched()) this.#stopUnread(name)
    }
    if (this.#isWatched()) {
      clearTimeout(this.#unwatchedTimer)
      this.#unwatchedTimer = undefined
    } else this.#unwatchedTimer ??= setTimeout(() => this.#closeStreams(), unwatchedMilliseconds)
  }

  #stopUnread(name: StreamName): void {
    if ([...this.#pages].every(({ readers }) => readers.size > 0 && !readers.has(name))) this.#streams[name].stop()
  }

  #sweep(): void {
    const since = Date.now() - forgottenMilliseconds
    for (const page of this.#pages) if (page.heardAt < since) this.#pages.delete(page)
    this.#update()
  }

  #closeStreams(): void {
    clearTimeout(this.#unwatchedTimer)
    this.#unwatchedTimer = undefined
    for (const name of streamNames) this.#streams[name].stop()
  }
}
