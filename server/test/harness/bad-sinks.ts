import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** Kinds of bad callback; the path of the request begins with one of them. */
export const badManners = ['silent', 'trickling', 'endless', 'resetting'] as const

/** Callbacks that never respond, respond a byte at a time, without end, or with a reset, by path; other paths respond at once. */
export class BadSinks {
  /** How many posts came to each path. */
  readonly posts = new Map<string, number>()
  /** The length in bytes of the longest endless response. */
  longest = 0
  readonly #server: Server = createServer((request, response) => {
    const path = (request.url ?? '').slice(1)
    request.resume()
    request.on('end', async () => {
      this.posts.set(path, (this.posts.get(path) ?? 0) + 1)
      this.#server.emit('came')
      const manner = path.split('/', 1)[0] as string
      if (manner !== 'resetting') await this.#whenReset()
      this.#answer(manner, response)
    })
  })
  readonly #resetFirst: number
  readonly #sockets = new Set<Socket>()

  /** Nobody gets a response before so many connections were reset. */
  constructor(resetFirst = 0) {
    this.#resetFirst = resetFirst
  }

  async start(): Promise<this> {
    this.#server.on('connection', (socket: Socket) => this.#sockets.add(socket))
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Resolves when so many posts have come to a path. */
  async whenCame(path: string, count: number): Promise<void> {
    while ((this.posts.get(path) ?? 0) < count) await once(this.#server, 'came')
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #whenReset(): Promise<void> {
    const isEarly = () =>
      [...this.posts.keys()].filter((path) => path.startsWith('resetting')).length < this.#resetFirst
    while (isEarly()) await once(this.#server, 'came')
  }

  #answer(manner: string, response: ServerResponse): void {
    switch (manner) {
      case 'silent':
        return
      case 'trickling': {
        response.writeHead(500)
        const timer = setInterval(() => response.write('x'), 100)
        response.on('close', () => clearInterval(timer))
        return
      }
      case 'endless':
        this.#goOn(response, 0)
        return
      case 'resetting':
        response.socket?.resetAndDestroy()
        return
      default:
        response.end()
    }
  }

  /** As fast as it is read. */
  #goOn(response: ServerResponse, sent: number): void {
    const piece = Buffer.alloc(65_536, 'x')
    this.longest = Math.max(this.longest, sent)
    if (!response.destroyed) response.write(piece, (error) => !error && this.#goOn(response, sent + piece.length))
  }
}
