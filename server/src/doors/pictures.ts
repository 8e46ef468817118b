import type { FastifyInstance } from 'fastify'
import type { Log } from '../base/log.ts'
import type { Db } from '../db/database.ts'
import type { Files } from '../files/files.ts'
import { notFound } from '../graph/errors.ts'
import { sendBytes } from '../http/send-bytes.ts'
import { findPictureForAnyone } from '../resources/profile/store.ts'

/** Anything else would only cost a look into the database, which does not take every text. */
const idPattern = /^[\w-]{1,64}$/

export const picturePaths = ['pictures'] as const

/** `/pictures/{id}`: anyone who was given the address of a profile's picture. */
export function openPicturesDoor(server: FastifyInstance, db: Db, files: Files, log: Log): void {
  server.get<{ Params: { id: string } }>('/pictures/:id', async (request, reply) => {
    request.operationName = 'public.picture'
    const { id } = request.params
    const picture = idPattern.test(id) ? await findPictureForAnyone(db, id) : undefined
    const file = picture && (await files.get(picture.sha256))
    if (!file) throw notFound()
    reply.headers({
      'content-type': picture.mime_type,
      'content-length': file.size,
      // A new picture has a new address: under one address it is never another.
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    return sendBytes(reply, file.stream, (err) => log.error({ trace: request.id, err }, 'a picture broke off'))
  })
}
