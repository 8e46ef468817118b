import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** How long requests get to notice that their connections are gone. */
const lastChanceMilliseconds = 1000

/**
 * The connections of a server, for a stop that waits only for requests under way. Node closes connections whose requests all
 * have their responses, but keeps a connection with a response under way, and one opened in advance, as browsers do.
 */
export class Connections {
  readonly #sockets = new Set<Socket>()

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /** `responses` has the latest response on each connection. */
  releaseAtClose(server: FastifyInstance, responses: WeakMap<Socket, ServerResponse>): void {
    server.addHook('preClose', (done) => {
      for (const socket of this.#sockets) release(socket, responses.get(socket))
      done()
    })
  }

  /**
   * Closes the server: requests under way get the grace period, then their connections are cut. Returns whether all have ended; a
   * request that waits for something that never comes is abandoned.
   */
  async close(server: FastifyInstance, graceMilliseconds: number): Promise<boolean> {
    const timers: NodeJS.Timeout[] = []
    const isLate = new Promise<boolean>((resolve) => {
      timers.push(setTimeout(() => this.#cutAll(), graceMilliseconds))
      timers.push(setTimeout(() => resolve(false), graceMilliseconds + lastChanceMilliseconds))
    })
    try {
      return await Promise.race([server.close().then(() => true), isLate])
    } finally {
      for (const timer of timers) clearTimeout(timer)
    }
  }

  #cutAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

function release(socket: Socket, last: ServerResponse | undefined): void {
  if (socket.writableEnded) {
    // Answered directly on the socket, and not closed by the client yet.
    socket.destroySoon()
  } else if (!last) {
    if (socket.bytesRead === 0) socket.destroy()
  } else if (!last.headersSent) {
    // Its head announces the close, and Node closes it afterwards.
    last.shouldKeepAlive = false
  } else if (!last.writableFinished) {
    last.once('finish', () => socket.destroySoon())
  }
}
