import { Type } from 'typebox'
import { defineEdgeLink } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import { idSchema } from '../../graph/schemas.ts'
import { replyWithFile } from '../media/public.ts'
import { findContent, findMessage } from '../messages/store.ts'
import { requireDigits } from './message-operations.ts'
import type { Content } from './show.ts'

/** The media files of messages, for phones that show them: as long as the content of the message is kept. */
export function messageDownloads(): NewReplyOperation[] {
  return [
    defineEdgeLink({
      name: 'gateway.download_file',
      path: '/message_files/{message_id}',
      sentence: 'Sends the bytes of the media file of a message, or a range of them.',
      input: Type.Object({ message_id: idSchema({ description: 'The id of the message.' }) }),
      content: { '*/*': Type.String({ format: 'binary' }) },
      missing: 'envelope',
      repeated: 'ranges',
      examples: { input: { message_id: 'wamid.q83vEjRWeJCrze8SNFZ4kKvN' }, output: undefined },
      async run(context, { message_id }) {
        const { db } = context
        const message = await findMessage(db, message_id)
        await requireDigits(context, message)
        const findFile = async () => {
          const stored = await findContent(db, message_id)
          const { media } = JSON.parse(stored?.content ?? '{}') as Content
          if (!media || stored?.sha256 !== media.sha256) throw notFound()
          return media
        }
        return replyWithFile(context, { ...(await findFile()), name: message?.type ?? 'file' }, findFile)
      },
    }),
  ]
}
