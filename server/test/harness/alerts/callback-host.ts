import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** What becomes of a post: it is taken, refused with 500, or gets no response until the manner changes. */
export type Manner = 'take' | 'refuse' | 'hold'

/** One host with the callbacks of many subscribers, by path. */
export class CallbackHost {
  #manners: Readonly<Record<string, Manner>> = {}
  readonly #held: { path: string; response: ServerResponse }[] = []
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((request, response) => {
    request.resume()
    const path = request.url ?? ''
    request.on('end', () => this.#respond(path, response))
  })

  async start(): Promise<this> {
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** By the beginning of the path; everything else is taken. */
  behave(manners: Readonly<Record<string, Manner>>): void {
    this.#manners = manners
    for (const { path, response } of this.#held.splice(0)) this.#respond(path, response)
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #respond(path: string, response: ServerResponse): void {
    const [, manner] = Object.entries(this.#manners).find(([beginning]) => path.startsWith(beginning)) ?? []
    if (manner === 'hold') this.#held.push({ path, response })
    else response.writeHead(manner === 'refuse' ? 500 : 200).end()
  }
}
