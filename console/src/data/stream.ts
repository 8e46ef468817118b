import { computed, effect, signal } from '@preact/signals'
import { hereMilliseconds } from '../streams/hub.ts'
import { makeHub } from '../streams/open.ts'
import type { Link, StreamEvent, StreamName, ToHub, ToPage } from '../streams/protocol.ts'
import { base, client, renewSession, session, workerFile } from './http.ts'

/** A worker that has said nothing for so long did not start. */
const startMilliseconds = 10_000

interface StreamReader {
  readonly onEvent: (event: StreamEvent) => void
  /** What was sent before this is not known any more, or this is the first time: read everything again. */
  readonly onFresh: () => void
}

/** The other end of the streams: a worker that all pages share, or a hub of this page. */
interface Hub {
  readonly send: (message: ToHub) => void
  readonly close: () => void
}

/** Each session has its own streams: what one may see is not shown to the next. */
const sessionId = computed(() => (session.value?.signed_in ? session.value.token_id : undefined))

/**
 * The streams of the service, as this page reads them. They come from a worker that all pages of the browser share, because a browser has
 * only six connections to one host over HTTP/1.1; a page holds its own where there are no such workers.
 */
class PageStreams {
  /** How the streams are that are read. */
  readonly links = signal<ReadonlyMap<StreamName, Link>>(new Map())
  readonly #readers = new Map<StreamName, StreamReader>()
  readonly #lastIds = new Map<StreamName, string>()
  #holders = 0
  #hub: Hub | undefined
  #canShare = typeof SharedWorker !== 'undefined' && workerFile !== ''

  /** Begins, for as long as the page lives. */
  start(): void {
    // A page that goes to the back/forward cache holds nothing; when it is shown again, it reads on behind what it saw.
    addEventListener('pagehide', () => this.#disconnect())
    addEventListener('pageshow', ({ persisted }) => {
      if (persisted) this.#connect()
    })
    document.addEventListener('visibilitychange', () => this.#sayHere())
    setInterval(() => this.#sayHere(), hereMilliseconds)
    effect(() => {
      const id = sessionId.value
      this.#disconnect()
      this.#lastIds.clear()
      if (id !== undefined) this.#connect()
    })
  }

  /** Reads a stream until the returned function is called. */
  read(name: StreamName, reader: StreamReader): () => void {
    this.#readers.set(name, reader)
    this.#setLink(name, 'connecting')
    this.#join(name)
    return () => {
      this.#readers.delete(name)
      this.#lastIds.delete(name)
      this.#setLink(name, undefined)
      this.#hub?.send({ type: 'leave', stream: name })
    }
  }

  /** Keeps the streams open also while nobody sees the page, until the returned function is called. */
  hold(): () => void {
    this.#holders += 1
    this.#sayHere()
    return () => {
      this.#holders -= 1
      this.#sayHere()
    }
  }

  #connect(): void {
    const id = sessionId.peek()
    if (this.#hub || id === undefined) return
    this.#hub = (this.#canShare && this.#openShared(id)) || this.#openOwn()
    this.#sayHere()
    for (const name of this.#readers.keys()) this.#join(name)
  }

  #disconnect(): void {
    const hub = this.#hub
    this.#hub = undefined
    hub?.send({ type: 'bye' })
    hub?.close()
    for (const name of this.#readers.keys()) this.#setLink(name, 'connecting')
  }

  #openShared(id: string): Hub | undefined {
    let worker: SharedWorker
    try {
      worker = new SharedWorker(`${base}/console/${workerFile}`, { name: id })
    } catch {
      return undefined
    }
    const { port } = worker
    const timer = setTimeout(() => giveUp(), startMilliseconds)
    const hub: Hub = {
      send: (message) => port.postMessage(message),
      close: () => {
        clearTimeout(timer)
        port.close()
      },
    }
    const giveUp = () => {
      if (this.#hub !== hub) return
      this.#canShare = false
      this.#disconnect()
      this.#connect()
    }
    worker.onerror = giveUp
    port.onmessage = ({ data }: MessageEvent<ToPage>) => {
      clearTimeout(timer)
      if (this.#hub === hub) this.#receive(data)
    }
    return hub
  }

  #openOwn(): Hub {
    const own = makeHub(client)
    const send = own.connect((message) => this.#receive(message))
    return { send, close: () => own.close() }
  }

  #join(name: StreamName): void {
    this.#hub?.send({ type: 'join', stream: name, after: this.#lastIds.get(name) })
  }

  #sayHere(): void {
    this.#hub?.send({ type: 'here', isVisible: !document.hidden || this.#holders > 0 })
  }

  #receive(message: ToPage): void {
    if (message.type === 'welcome') return
    if (message.type === 'refused') return void this.#renew()
    const reader = this.#readers.get(message.stream)
    if (!reader) return
    if (message.type === 'link') this.#setLink(message.stream, message.link)
    else if (message.type === 'fresh') reader.onFresh()
    else {
      if (message.event.id !== undefined) this.#lastIds.set(message.stream, message.event.id)
      reader.onEvent(message.event)
    }
  }

  /** The session may have ended. Another one gets other streams, by the effect above. */
  async #renew(): Promise<void> {
    const before = sessionId.peek()
    // When the service cannot be reached, the hub tries again by itself.
    const renewed = await renewSession().catch(() => undefined)
    if (renewed?.signed_in && renewed.token_id === before) this.#hub?.send({ type: 'retry' })
  }

  #setLink(name: StreamName, link: Link | undefined): void {
    const links = new Map(this.links.peek())
    if (link === undefined) links.delete(name)
    else links.set(name, link)
    this.links.value = links
  }
}

export const pageStreams = new PageStreams()
