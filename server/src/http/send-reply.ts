import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Reply } from '../graph/reply.ts'
import { release } from './blocks.ts'

/**
 * Sends a response that is not an object of the API, past the framework, and resolves when it has left or cannot leave any more.
 * A stream that breaks ends the connection, because the status is out already, and is handed to `onFault`.
 */
export async function sendReply(
  reply: FastifyReply,
  { status, headers, body }: Reply,
  more: Readonly<Record<string, string>>,
  onFault: (error: unknown) => void,
): Promise<void> {
  reply.hijack()
  const { raw } = reply
  if (body instanceof Readable) {
    raw.writeHead(status, { ...headers, ...more })
    await sendStream(raw, body, onFault)
    return
  }
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  raw.writeHead(status, { ...length, ...headers, ...more })
  raw.end(body)
}

/**
 * The memory of each chunk is released when it has left: piped, a large file would leave tens of megabytes behind until the
 * garbage is collected.
 */
async function sendStream(raw: ServerResponse, stream: Readable, onFault: (error: unknown) => void): Promise<void> {
  try {
    for await (const chunk of stream) {
      await write(raw, chunk)
      release(chunk)
    }
    raw.end()
  } catch (error) {
    if (!(error instanceof ConnectionGone)) onFault(error)
    raw.destroy()
  }
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
