import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'

/** How many requests of a connection may wait for their turn: clients that pipeline at all send fewer. */
export const maxWaiting = 8

/** Node's parser of a connection. Returning 2 from `onIncoming` ends the parsing there, as before another protocol. */
interface Parser {
  onIncoming: (request: IncomingMessage & { upgrade: boolean }, keepAlive: boolean) => number
}

/**
 * Handles the requests of each connection one after the other, and ends the parsing of a connection on which too many wait:
 * `refuse` is called with it, after which no more of its requests are handled. Node would parse all that is in 64 KiB, and begin every
 * request of it, in one turn of the event loop: thousands, while everybody else waits.
 */
export function handleInTurn(server: Server, handle: RequestListener, refuse: (socket: Socket) => void): void {
  const waiting = new WeakMap<Socket, number>()
  const count = (socket: Socket, change: number) => waiting.set(socket, (waiting.get(socket) ?? 0) + change)

  server.on('request', (request, response) => {
    // A response gets the connection when the one before has ended.
    if (response.socket) {
      handle(request, response)
      return
    }
    const { socket } = request
    count(socket, 1)
    response.once('socket', () => {
      count(socket, -1)
      // In a turn of its own, so that other connections get theirs.
      setImmediate(handle, request, response)
    })
  })

  server.on('connection', (socket: Socket & { parser?: Parser }) => {
    const { parser } = socket
    if (!parser) return
    const take = parser.onIncoming
    parser.onIncoming = (request, keepAlive) => {
      const isTooMany = (waiting.get(socket) ?? 0) >= maxWaiting
      // Nothing else is ever spoken here: a request for another protocol gets its response in this one (RFC 9110, 7.8).
      if (!isTooMany && request.method !== 'CONNECT') request.upgrade = false
      if (!isTooMany) return take(request, keepAlive)
      request.upgrade = true
      return 2
    }
  })
  server.on('upgrade', (_request, socket: Socket) => refuse(socket))
}
