import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Lets a server that stops wait for requests that are under way and for nothing else. Node closes connections whose requests are
 * all answered; one that is still being answered would be kept for more, and one that was opened for later, as browsers do, kept
 * as well.
 */
export function releaseConnectionsAtStop(server: FastifyInstance, answers: WeakMap<Socket, ServerResponse>): void {
  const sockets = new Set<Socket>()
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.addHook('preClose', (done) => {
    for (const socket of sockets) release(socket, answers.get(socket))
    done()
  })
}

function release(socket: Socket, last: ServerResponse | undefined): void {
  if (!last) {
    if (socket.bytesRead === 0) socket.destroy()
  } else if (!last.headersSent) {
    // Says so in its head, and is closed by Node behind it.
    last.shouldKeepAlive = false
  } else if (!last.writableFinished) {
    last.once('finish', () => socket.destroySoon())
  }
}
