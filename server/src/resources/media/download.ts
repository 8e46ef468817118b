import { Type } from 'typebox'
import type { LinkContext } from '../../graph/context.ts'
import { defineLink } from '../../graph/define.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import type { Reply } from '../../graph/reply.ts'
import { replyWithFile } from './reply-file.ts'
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
  const { db, node, clock } = context
  const find = () => findMedia(db, node, clock)
  return replyWithFile(context, { ...(await find()), name: node.id }, find)
}
