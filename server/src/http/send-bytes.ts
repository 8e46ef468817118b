import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { release } from './blocks.ts'

/**
 * Sends what a stream holds, with the status and headers that the reply has by now. The memory of each chunk is released when
 * it has left: piped, a large file would leave tens of megabytes behind until the garbage is collected. A stream that breaks
 * ends the connection, because the status is out already, and is reported to `onFault`.
 */
export async function sendBytes(
  reply: FastifyReply,
  stream: Readable,
  onFault: (error: unknown) => void,
): Promise<FastifyReply> {
  reply.hijack()
  const { raw } = reply
  try {
    raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>)
    for await (const chunk of stream) {
      await write(raw, chunk)
      release(chunk)
    }
    raw.end()
  } catch (error) {
    if (!(error instanceof ConnectionGone)) onFault(error)
    raw.destroy()
  }
  return reply
}

class ConnectionGone extends Error {}

/** Resolves when the chunk has left, and fails when it never will. */
function write(response: ServerResponse, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const onClose = () => reject(new ConnectionGone())
    if (response.closed) onClose()
    response.once('close', onClose)
    response.write(chunk, (error) => {
      response.off('close', onClose)
      if (error) onClose()
      else resolve()
    })
  })
}
