import type { IncomingMessage } from 'node:http'
import type { Arguments } from '../../graph/input/input.ts'
import { hasBody, noArguments, parseArguments } from './body.ts'
import { isBodyKept, keepBody } from './kept-body.ts'
import type { UnauthenticatedBodies } from './unauthenticated-bodies.ts'

/** Forms and the parameters of an exchange are far smaller. */
const maxOpenBodyBytes = 65_536

/** Reads a body as arguments, in any of the three content types, for a caller who has proven nothing. */
export async function readUnauthenticatedArguments(
  request: IncomingMessage,
  address: string,
  bodies: UnauthenticatedBodies,
): Promise<Arguments> {
  const contentType = request.headers['content-type']
  if (contentType === undefined && !hasBody(request)) return noArguments
  const body = bodies.open(request, address, maxOpenBodyBytes)
  try {
    await body.read(() => undefined)
    const bytes = body.take()
    if (isBodyKept(request)) keepBody(request, bytes)
    return await parseArguments(bytes, contentType)
  } finally {
    body.release()
  }
}
