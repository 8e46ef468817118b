import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** How long requests get to notice that their connections are gone. */
const lastChanceMilliseconds = 1000

/**
 * The connections of a server, for a stop that waits for requests under way and for nothing else. Node closes connections whose
 * requests are all answered; one that is still being answered would be kept for more, and one that was opened for later, as
 * browsers do, kept as well.
 */
export class Connections {
  readonly #sockets = new Set<Socket>()

  /** `answers` has the newest answer on each connection. */
  watch(server: FastifyInstance, answers: WeakMap<Socket, ServerResponse>): void {
    server.server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    server.addHook('preClose', (done) => {
      for (const socket of this.#sockets) release(socket, answers.get(socket))
      done()
    })
  }

  /**
   * Closes the server: requests under way get the grace, then their connections are cut. Whether all of them have ended; one
   * that waits for what never comes is left behind.
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
    // Answered by hand, and not closed by the other side yet.
    socket.destroySoon()
  } else if (!last) {
    if (socket.bytesRead === 0) socket.destroy()
  } else if (!last.headersSent) {
    // Says so in its head, and is closed by Node behind it.
    last.shouldKeepAlive = false
  } else if (!last.writableFinished) {
    last.once('finish', () => socket.destroySoon())
  }
}
