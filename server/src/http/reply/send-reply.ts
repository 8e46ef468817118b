import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Reply } from '../../graph/reply.ts'
import { release } from '../body/blocks.ts'

/**
 * Sends a response that is not an object of the API, bypassing the framework, and resolves when it is sent or can no longer be sent.
 * A stream that breaks closes the connection, because the status is already sent, and the error goes to `onFault`.
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
 * Releases the memory of each chunk when it is sent: with a pipe, a large file would leave tens of megabytes until the next garbage
 * collection.
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

/** Resolves when the chunk is sent, and rejects when it never will be. */
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
