import { Type } from 'typebox'
import type { ByteRange } from '../../files/file-store.ts'
import { defineLink, type LinkContext, type NewReplyOperation } from '../../graph/operation.ts'
import { Reply } from '../../graph/reply.ts'
import { isKnown, readRange } from '../../replies/ranges.ts'
import { rangeNotSatisfiable } from './errors.ts'
import { isMediaType, mediaTypes } from './kinds.ts'
import { findMedia } from './store.ts'

/** The bytes of media files, by a link and a token that sees the file. */
export function mediaDownloads(): NewReplyOperation[] {
  return [
    defineLink({
      name: 'media.download',
      path: '/media/{Media-ID}',
      sentence: 'Sends the bytes of a media file, or a range of them.',
      permission: 'messaging',
      input: Type.Object({}),
      content: { '*/*': Type.String({ format: 'binary' }) },
      missing: 'envelope',
      repeated: 'ranges',
      examples: { output: undefined },
      run: download,
    }),
  ]
}

async function download(context: LinkContext): Promise<Reply> {
  const { db, node, clock, method, headers: asked } = context
  const { sha256, mime_type, file_size } = await findMedia(db, node, clock)
  const etag = `"${sha256}"`
  const isUnchanged = isKnown(asked, etag)
  const range = isUnchanged ? undefined : readRange(asked, etag, file_size)
  if (range === 'not satisfiable')
    throw rangeNotSatisfiable({ size: file_size }, { headers: { 'content-range': `bytes */${file_size}` } })
  const common = { etag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-store' }
  if (isUnchanged) return new Reply(common, undefined, { status: 304 })

  const stream = method === 'GET' ? await openBytes(context, sha256, range) : undefined
  const extension = isMediaType(mime_type) ? mediaTypes[mime_type].extension : 'bin'
  const headers = {
    ...common,
    'content-type': mime_type,
    'content-length': range ? range.end - range.start + 1 : file_size,
    'content-disposition': `attachment; filename="${node.id}.${extension}"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${file_size}` }),
  }
  return new Reply(headers, stream, { status: range ? 206 : 200 })
}

async function openBytes({ db, node, clock, ports }: LinkContext, sha256: string, range: ByteRange | undefined) {
  const file = await ports.files.get(sha256, range)
  if (file) return file.stream
  // Deleted a moment ago, so it does not exist; otherwise it is our fault.
  await findMedia(db, node, clock)
  throw new Error(`the bytes of the media file ${node.id} are gone`)
}
