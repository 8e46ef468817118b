import { Type } from 'typebox'
import { defineEdgeLink } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import { idSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { replyWithFile } from '../media/public.ts'
import { findContent, findMessage } from '../messages/store.ts'
import { requireDigits } from './message-operations.ts'
import type { Content } from './show.ts'

/** The media files of messages, for phones that show them: as long as the content of the message is kept. */
export function messageDownloads({ habits }: Vocabulary): NewReplyOperation[] {
  const card = Type.Optional(
    Type.Integer({ minimum: 0, maximum: 9, description: 'The card whose file it is, from 0.' }),
  )
  return [
    defineEdgeLink({
      name: 'gateway.download_file',
      path: '/message_files/{message_id}',
      sentence: 'Sends the bytes of the media file of a message, or a range of them.',
      input: Type.Object({
        message_id: idSchema({ description: 'The id of the message.' }),
        ...(habits.more_message_forms && { card }),
      }),
      content: { '*/*': Type.String({ format: 'binary' }) },
      missing: 'envelope',
      repeated: 'ranges',
      examples: { input: { message_id: 'wamid.q83vEjRWeJCrze8SNFZ4kKvN' }, output: undefined },
      async run(context, input) {
        const { message_id, card } = input as { message_id: string; card?: number }
        const { db } = context
        const message = await findMessage(db, message_id)
        await requireDigits(context, message)
        const findFile = async () => {
          const stored = await findContent(db, message_id)
          const { media, card_media = [] } = JSON.parse(stored?.content ?? '{}') as Content
          const file = card === undefined ? media : card_media[card]
          const isKept = card === undefined ? stored?.sha256 === file?.sha256 : stored?.sha256 !== null
          if (!(file && isKept)) throw notFound()
          return file
        }
        return replyWithFile(context, { ...(await findFile()), name: message?.type ?? 'file' }, findFile)
      },
    }),
  ]
}
