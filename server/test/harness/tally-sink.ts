import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'

/** Something that was posted, and when it came by the clock of this process. */
export interface Arrival {
  readonly path: string
  readonly time: number
  /** Its `webhook-id`. */
  readonly id: string
  /** What it was answered with. */
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects.
  readonly body: any
}

/** Long enough for any machine; what comes late only makes a test slow. */
const timeoutMs = 120_000

/** Takes every JSON that is posted to it, wherever, unless a test wants it refused, and keeps it in the order of arrival. Whoever starts it ends it. */
export class TallySink {
  readonly arrivals: Arrival[] = []
  /** What it answers with. */
  status = 200
  readonly #server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    const { status } = this
    const id = String(request.headers['webhook-id'])
    this.arrivals.push({ path: request.url ?? '', time: performance.now(), id, status, body })
    response.writeHead(status).end()
    this.#server.emit('came')
  })
  readonly #sockets = new Set<Socket>()

  async start(): Promise<this> {
    this.#server.on('connection', (socket: Socket) => this.#sockets.add(socket))
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  at(path: string): Arrival[] {
    return this.arrivals.filter((arrival) => arrival.path === path)
  }

  /** Resolves when there is nothing missing any more. */
  async whenNothingIsMissing(findMissing: () => readonly string[]): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutMs)
    for (;;) {
      const missing = findMissing()
      if (missing.length === 0) return
      await once(this.#server, 'came', { signal: deadline }).catch(() => {
        throw new Error(`${missing.length} never came, such as ${missing.slice(0, 5)}`)
      })
    }
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
