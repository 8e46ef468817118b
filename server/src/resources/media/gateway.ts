import { Type } from 'typebox'
import type { GatewayContext } from '../../graph/context.ts'
import { defineGatewayWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import { examplePicture } from '../../graph/examples.ts'
import { createNode } from '../../graph/nodes.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { idSchema } from '../../graph/schemas.ts'
import { checkArrived } from './accept.ts'
import { mediaFile } from './file-member.ts'
import { fileSchema, mediaMembers } from './schemas.ts'
import { checkRoom, findNumberNodeForGateway, insertMediaWithin } from './store.ts'

export function mediaGatewayOperations(): NewOperation[] {
  return [
    defineGatewayWrite({
      name: 'gateway.upload_media',
      method: 'POST',
      path: '/gateway/media',
      sentence: 'Uploads a file that a user sends to a phone number; the business reads it by its media ID.',
      file: mediaFile,
      input: Type.Object({
        phone_number_id: idSchema({ description: 'The phone number that the user sends the file to.' }),
        file: fileSchema,
      }),
      output: Type.Object(mediaMembers),
      examples: {
        input: {
          phone_number_id: '4000000000000001',
          file: `data:image/png;base64,${examplePicture.base64}`,
        },
        output: {
          id: '9000000000000002',
          mime_type: 'image/png',
          sha256: '6dc7c43ae4ce89ef3dbbba35b22d8e1aeb8c9d6b9a7ee1b9ae5ab9d9ee2a0f83',
          file_size: examplePicture.length,
        },
      },
      async prepare(context, { phone_number_id }) {
        const { file, settings } = context
        const { account_id } = await requireNumber(context, phone_number_id)
        const mime_type = await checkArrived(file, settings)
        await checkRoom(context.db, account_id, file.size, settings)
        await file.keep()
        return { mime_type, sha256: file.sha256, file_size: file.size }
      },
      async run(context, { phone_number_id }, stored) {
        const { db, clock, random, settings } = context
        const number = await requireNumber(context, phone_number_id)
        const id = await createNode(db, random, 'media', number)
        const expires_time = clock.now() + settings.mediaLifetime
        const media = { id, phone_number_id, account_id: number.account_id, ...stored, expires_time }
        await insertMediaWithin(db, { clock, random }, media, settings)
        return { id, ...stored }
      },
    }),
  ]
}

async function requireNumber({ db, sees }: GatewayContext, id: string) {
  const number = await findNumberNodeForGateway(db, id)
  if (!number || !sees(number.account_id)) throw notFound()
  return number
}
