import { WebhookVerificationError } from './errors.ts'

/** Far more than a post holds. */
export const maxBytes = 32 * 1024 * 1024

/** The bytes of a body, which anybody may send: it is read before its signature can be checked. */
export async function readBytes(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const read: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > maxBytes) throw new WebhookVerificationError('body_too_large', `${maxBytes} bytes`)
    read.push(chunk)
  }
  const body = new Uint8Array(size)
  let at = 0
  for (const chunk of read) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}
