import type { IncomingMessage } from 'node:http'
import { bodyBrokeOff } from '../../graph/errors.ts'
import { GraphError } from '../../graph/graph-error.ts'
import { bodyTooLarge } from '../errors.ts'
import { release } from './blocks.ts'

/**
 * The body as it arrives, up to a size limit, each chunk valid until the next; throws when it breaks off. Leaving the loop early lets
 * the body flow on.
 */
export async function* readChunks(
  request: IncomingMessage,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  if (Number(request.headers['content-length']) > maxBytes) throw bodyTooLarge({ max: maxBytes })
  let length = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      length += chunk.length
      if (length > maxBytes) throw bodyTooLarge({ max: maxBytes })
      yield chunk
      release(chunk)
    }
  } catch (error) {
    throw error instanceof GraphError ? error : bodyBrokeOff()
  }
}
