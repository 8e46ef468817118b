import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { GraphError } from '../graph/graph-error.ts'

/** What is still taken of a refused body, so that an honest client reads its answer instead of a broken connection. */
const maxRestBytes = 4 << 20

/**
 * Throws away what is still to come of a request that was refused, and ends the connection when that is too much or takes too
 * long: the bytes of strangers are not waited for.
 */
export function discardRest(request: IncomingMessage, timeout: number): void {
  if (request.complete || request.destroyed) return
  let length = 0
  const end = () => request.socket.destroy()
  const timer = setTimeout(end, timeout).unref()
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > maxRestBytes) end()
  })
  request.once('close', () => clearTimeout(timer))
  request.once('end', () => clearTimeout(timer))
  request.resume()
}

/**
 * The same for a connection whose request is not valid HTTP and was answered: what is still sent goes to nobody, so that the
 * answer is read before the connection ends.
 */
export function discardRestOf(socket: Socket, timeout: number): void {
  let length = 0
  const end = () => socket.destroy()
  const timer = setTimeout(end, timeout).unref()
  // The parser's: it would refuse every further chunk again.
  socket.removeAllListeners('data')
  socket.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > maxRestBytes) end()
  })
  socket.once('close', () => clearTimeout(timer))
  socket.resume()
}

/** The same error, and the connection is closed behind it. */
export function closeBehind(error: GraphError): GraphError {
  return new GraphError(error.definition, error.args, { headers: { ...error.headers, connection: 'close' } })
}
