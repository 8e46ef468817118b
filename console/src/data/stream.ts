import { type Signal, signal } from '@preact/signals'
import { base, renewSession } from './http.ts'

export interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

export type Link = 'connecting' | 'open' | 'lost'

export interface StreamOptions {
  readonly path: string
  readonly onEvent: (event: StreamEvent) => void
  /** What was sent before this is no longer known, or this is the first time: read everything again. */
  readonly onFresh: () => void
}

const firstPause = 500
const longestPause = 8000
/** A hidden page lets go of its connection after this: a browser has few for one host. */
const patienceWhileHidden = 30_000

/**
 * Server-Sent Events that come back by themselves after the last one that was heard. (`EventSource` can neither be given a place to resume from
 * nor say that a session has ended.)
 */
export class Stream {
  readonly link: Signal<Link> = signal<Link>('connecting')
  readonly #options: StreamOptions
  #lastId: string | undefined
  #pause = firstPause
  #ending: AbortController | undefined
  #hiddenTimer: ReturnType<typeof setTimeout> | undefined
  #isStopped = false

  constructor(options: StreamOptions) {
    this.#options = options
  }

  start(): void {
    document.addEventListener('visibilitychange', this.#onVisibility)
    void this.#run()
  }

  stop(): void {
    this.#isStopped = true
    document.removeEventListener('visibilitychange', this.#onVisibility)
    this.#ending?.abort()
  }

  readonly #onVisibility = (): void => {
    clearTimeout(this.#hiddenTimer)
    if (document.hidden) this.#hiddenTimer = setTimeout(() => this.#ending?.abort(), patienceWhileHidden)
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      await whenVisible()
      try {
        await this.#listen()
      } catch {
        // The pause below is the answer to whatever it was.
      }
      if (this.#isStopped) return
      if (!document.hidden) this.link.value = 'lost'
      await new Promise((resolve) => setTimeout(resolve, this.#pause))
      this.#pause = Math.min(longestPause, this.#pause * 2)
    }
  }

  async #listen(): Promise<void> {
    this.#ending = new AbortController()
    const response = await fetch(`${base}${this.#options.path}`, {
      headers: { Accept: 'text/event-stream', ...(this.#lastId !== undefined && { 'Last-Event-ID': this.#lastId }) },
      signal: this.#ending.signal,
    })
    if (response.status === 401) await renewSession()
    if (!response.ok || !response.body) throw new Error(`the stream answered ${response.status}`)
    const isFirst = this.#lastId === undefined
    this.link.value = 'open'
    this.#pause = firstPause
    // Read after the stream is open: what happens in between is sent twice and never missed.
    if (isFirst) this.#options.onFresh()
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const parts = (rest + value).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) this.#take(part)
    }
  }

  #take(text: string): void {
    let id: string | undefined
    let event = 'message'
    const data: string[] = []
    for (const line of text.split('\n')) {
      if (line.startsWith('id:')) id = line.slice(3).trim()
      else if (line.startsWith('event:')) event = line.slice(6).trim()
      else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
    }
    if (id !== undefined) this.#lastId = id
    if (event === 'reset') this.#options.onFresh()
    else if (data.length > 0) this.#options.onEvent({ id: id ?? '', event, data: data.join('\n') })
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
