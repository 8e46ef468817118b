import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { resolveNode } from '../auth/access.ts'
import { authenticate } from '../auth/bearer.ts'
import { checkPermission } from '../auth/scopes.ts'
import type { Log } from '../base/log.ts'
import type { ByteRange } from '../files/file-store.ts'
import { linkExpired, notFound, rangeNotSatisfiable } from '../graph/errors.ts'
import type { Node } from '../graph/nodes.ts'
import type { PipelineParts } from '../http/pipeline.ts'
import { isKnown, readRange } from '../http/ranges.ts'
import { sendBytes } from '../http/send-bytes.ts'
import { isMediaType, mediaTypes } from '../resources/media/kinds.ts'
import { mediaPath } from '../resources/media/rules.ts'
import { findMedia } from '../resources/media/store.ts'

export const mediaPaths = ['media'] as const

type MediaRequest = FastifyRequest<{ Params: { id: string }; Querystring: Record<string, unknown> }>

/** `/media/{id}`: who was given the address of a medium, and has a token that sees it. */
export function openMediaDoor(server: FastifyInstance, parts: PipelineParts, log: Log): void {
  server.route({
    method: ['GET', 'HEAD'],
    url: '/media/:id',
    handler: async (request: MediaRequest, reply) => {
      request.operationName = 'media.download'
      return serveBytes(request, reply, await admit(request, parts), parts, log)
    },
  })
}

/** The order is that of the API: token (401), node and tenant (404), permission (403). An address that is made up is nobody's. */
async function admit(request: MediaRequest, parts: PipelineParts): Promise<Node> {
  const { database, words, links, guesses } = parts
  const { raw, headers, query } = request
  const caller = await authenticate(parts, { raw, headers, query, remote_address: parts.addresses.of(raw) })
  request.logged = { business: caller.business_id, app: caller.app_id }
  // Whoever has a token and makes up addresses is slowed down by itself, wherever it calls from.
  guesses.refuse(caller.token_id)
  const link = links.check(mediaPath(request.params.id), query)
  if (link === 'made up') {
    guesses.noteWrong(caller.token_id)
    throw notFound()
  }
  const node = await resolveNode(database.read, caller, request.params.id)
  if (node.kind !== 'media') throw notFound()
  request.logged = { business: caller.business_id, app: caller.app_id, node: node.id }
  checkPermission(caller, 'messaging', words)
  if (link === 'expired') throw linkExpired()
  return node
}

async function serveBytes(
  request: MediaRequest,
  reply: FastifyReply,
  node: Node,
  parts: PipelineParts,
  log: Log,
): Promise<FastifyReply> {
  const { sha256, mime_type, file_size } = await findMedia(parts.database.read, node, parts.clock)
  const etag = `"${sha256}"`
  const isUnchanged = isKnown(request.headers, etag)
  const range = isUnchanged ? undefined : readRange(request.headers, etag, file_size)
  if (range === 'not satisfiable') throw rangeNotSatisfiable(file_size)
  const needsBytes = request.method === 'GET' && !isUnchanged
  const stream = needsBytes ? await openBytes(node, sha256, range, parts) : undefined
  reply.headers({ etag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-store' })
  if (isUnchanged) return reply.status(304).send()

  const extension = isMediaType(mime_type) ? mediaTypes[mime_type].extension : 'bin'
  reply.headers({
    'content-type': mime_type,
    'content-length': range ? range.end - range.start + 1 : file_size,
    'content-disposition': `attachment; filename="${node.id}.${extension}"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  })
  if (range) reply.status(206).header('content-range', `bytes ${range.start}-${range.end}/${file_size}`)
  if (!stream) return reply.send()
  return sendBytes(reply, stream, (err) =>
    log.error({ ...request.logged, trace: request.id, err }, 'a download broke off'),
  )
}

async function openBytes(node: Node, sha256: string, range: ByteRange | undefined, parts: PipelineParts) {
  const file = await parts.outside.files.get(sha256, range)
  if (file) return file.stream
  // Deleted a moment ago, so it is not there; otherwise there is something wrong with us.
  await findMedia(parts.database.read, node, parts.clock)
  throw new Error(`the bytes of the medium ${node.id} are gone`)
}
