import { Busboy, type BusboyConfig, type BusboyInstance } from '@fastify/busboy'
import { type GraphError, malformedRequest } from '../graph/errors.ts'

const maxMembers = 1000

/** Makes a parser of a multipart body; throws the 400 when the type does not tell how its members are divided. */
export function openMultipart(contentType: string, config: Omit<BusboyConfig, 'headers'>): BusboyInstance {
  try {
    return new Busboy({
      ...config,
      headers: { 'content-type': contentType },
      limits: { ...config.limits, parts: maxMembers },
    })
  } catch (error) {
    throw refuseMultipart(error)
  }
}

/** A member that comes several times is a list. */
export function collectMember(values: Record<string, unknown>, name: string, value: string): void {
  const known = values[name]
  values[name] = known === undefined ? value : Array.isArray(known) ? [...known, value] : [known, value]
}

export function refuseMultipart(error: unknown): GraphError {
  return malformedRequest(
    `The multipart body cannot be read (${(error as Error).message}); write its parts with the boundary that its Content-Type names.`,
  )
}

export function tooManyMembers(): GraphError {
  return malformedRequest(`The multipart body has more than ${maxMembers} members; send fewer.`)
}
