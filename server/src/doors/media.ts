import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { resolveNode } from '../auth/access.ts'
import { authenticate } from '../auth/bearer.ts'
import { checkPermission } from '../auth/scopes.ts'
import { linkExpired, notFound, rangeNotSatisfiable } from '../graph/errors.ts'
import type { PipelineParts } from '../http/pipeline.ts'
import { readRange } from '../http/ranges.ts'
import { isMediaType, mediaTypes } from '../resources/media/kinds.ts'
import { mediaPath } from '../resources/media/rules.ts'
import { findMedia } from '../resources/media/store.ts'

export const mediaPaths = ['media'] as const

interface MediaRequest {
  Params: { id: string }
  Querystring: Record<string, unknown>
}

/** `/media/{id}`: who was given the address of a medium, and has a token that sees it. */
export function openMediaDoor(server: FastifyInstance, parts: PipelineParts): void {
  server.route<MediaRequest>({
    method: ['GET', 'HEAD'],
    url: '/media/:id',
    handler: (request, reply) => serveMedium(request, reply, parts),
  })
}

async function serveMedium(
  request: FastifyRequest<MediaRequest>,
  reply: FastifyReply,
  { database, clock, words, links, outside }: PipelineParts,
): Promise<FastifyReply> {
  request.operationName = 'media.download'
  const { id } = request.params
  const { access_token } = request.query
  const tokenInQuery = words.habits.token_in_query && typeof access_token === 'string' ? access_token : undefined
  const caller = await authenticate(database.read, clock, request.headers.authorization, tokenInQuery)
  request.logged = { business: caller.business_id, app: caller.app_id }
  const link = links.check(mediaPath(id), request.query)
  if (link === 'made up') throw notFound()
  const node = await resolveNode(database.read, caller, id)
  if (node.kind !== 'media') throw notFound()
  request.logged = { ...request.logged, node: node.id }
  checkPermission(caller, 'messaging', words)
  if (link === 'expired') throw linkExpired()

  const { sha256, mime_type, file_size } = await findMedia(database.read, node, clock)
  const etag = `"${sha256}"`
  const extension = isMediaType(mime_type) ? mediaTypes[mime_type].extension : 'bin'
  reply.headers({
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'content-disposition': `attachment; filename="${node.id}.${extension}"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  })
  if (knows(request.headers['if-none-match'], etag)) return reply.status(304).send()

  const range = readRange(request.headers, etag, file_size)
  if (range === 'not satisfiable') throw rangeNotSatisfiable(file_size)
  reply.header('content-type', mime_type)
  if (range) {
    reply.status(206)
    reply.header('content-range', `bytes ${range.start}-${range.end}/${file_size}`)
  }
  reply.header('content-length', range ? range.end - range.start + 1 : file_size)
  if (request.method === 'HEAD') return reply.send()
  const file = await outside.files.get(sha256, range)
  if (!file) throw new Error(`the bytes of the medium ${node.id} are gone`)
  return reply.send(file.stream)
}

/** Whether a caller has the content already. */
function knows(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()))
}
