import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { defineEdgeLink } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import { idSchema } from '../../graph/schemas.ts'
import { replyWithFile } from '../media/public.ts'
import { findContent, findMessage, type StoredMessage } from '../messages/store.ts'
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
      async run(context, { message_id: named }) {
        const { db } = context
        const { message, card } = await findNamed(db, named)
        await requireDigits(context, message)
        const findFile = async () => {
          const stored = message && (await findContent(db, message.id))
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

/** The message of a link, and the place of a card in it. The ids of messages of users may look like anything, so the whole text comes first. */
async function findNamed(db: Db, named: string): Promise<{ message: StoredMessage | undefined; card?: number }> {
  const message = await findMessage(db, named)
  const [, id, card] = /^(.+)#(\d)$/s.exec(named) ?? []
  if (message || id === undefined) return { message }
  return { message: await findMessage(db, id), card: Number(card) }
}
