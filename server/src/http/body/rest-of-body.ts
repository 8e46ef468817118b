import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { GraphError } from '../../graph/graph-error.ts'

/** How much of a refused body is still read, so that an honest client reads the response instead of a broken connection. */
const maxRestBytes = 4 << 20
/** Receiving a chunk costs about as much as receiving so many bytes. */
export const usualPiece = 4096

/**
 * Discards the rest of a refused request, and closes the connection when that is too much or takes too long: the service does not
 * wait for bytes of strangers.
 */
export function discardRest(request: IncomingMessage, timeout: number): void {
  if (request.complete || request.destroyed) return
  let length = 0
  const end = () => request.socket.destroy()
  const timer = setTimeout(end, timeout).unref()
  closeLate(request)
  request.on('data', (chunk: Buffer) => {
    length += Math.max(chunk.length, usualPiece)
    if (length > maxRestBytes) end()
  })
  request.once('close', () => clearTimeout(timer))
  request.once('end', () => clearTimeout(timer))
  request.resume()
}

/**
 * Behind a response that closes the connection Node closes it at once, and a client that is still sending gets an error before it has read
 * the response. So only this side's end is sent, and the connection closes when the rest has come.
 */
function closeLate(request: IncomingMessage): void {
  const { socket } = request
  const closeAtOnce = () => Reflect.deleteProperty(socket, 'destroySoon')
  socket.destroySoon = () => {
    closeAtOnce()
    if (request.complete || request.destroyed) {
      socket.destroySoon()
      return
    }
    socket.end()
    request.once('end', () => socket.destroySoon())
  }
  request.once('close', closeAtOnce)
}

/**
 * The same for a connection whose request was not valid HTTP and was answered: further bytes are discarded, so that the client
 * reads the response before the connection closes.
 */
export function discardRestOf(socket: Socket, timeout: number): void {
  let length = 0
  const end = () => socket.destroy()
  const timer = setTimeout(end, timeout).unref()
  // The parser's listener: it would refuse every further chunk again.
  socket.removeAllListeners('data')
  socket.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > maxRestBytes) end()
  })
  socket.once('close', () => clearTimeout(timer))
  socket.resume()
}

/** The same error, with the connection closed afterwards. */
export function closeBehind(error: GraphError): GraphError {
  return new GraphError(error.definition, error.args, { headers: { ...error.headers, connection: 'close' } })
}
