import type { Chapter } from '../../chapter.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import { examplePicture } from '../../graph/examples.ts'
import { createNode, type Node } from '../../graph/nodes.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { checkArrived } from './accept.ts'
import { mediaDownloads } from './download.ts'
import { makeMediaExpiryHandler } from './expiry.ts'
import { mediaFile } from './file-member.ts'
import { mediaGatewayOperations } from './gateway.ts'
import { mediaPath } from './rules.ts'
import { makeMediaSchema, makeUploadSchema, mediaQuerySchema, uploadedSchema } from './schemas.ts'
import { checkRoom, deleteMedia, expiryTimer, findMedia, insertMediaWithin } from './store.ts'

const exampleId = '9000000000000002'
const uploadMedium = { send: 'media.upload', take: { pointer: '/id', as: 'Media-ID' } }

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    media: true
  }
}

export const mediaChapter: Chapter = {
  name: 'media',
  title: 'Media',
  nodes: {
    media: {
      placeholder: 'Media-ID',
      called: 'a media file',
      example: '9000000000000002',
      // An upload has no name: its type tells it from others.
      named: { table: 'media', columns: ['mime_type'], isCommon: true },
    },
  },
  rows: (vocabulary) => [...mediaOperations(vocabulary), ...mediaGatewayOperations(), ...mediaDownloads()],
  timers: (deps) => ({ [expiryTimer]: makeMediaExpiryHandler(deps) }),
  leftOutOfWorld: { media: 'media' },
}

/** A number always has an account. */
function accountOf({ account_id }: Node): string {
  return account_id ?? ''
}

function mediaOperations(vocabulary: Vocabulary): NewOperation[] {
  return [
    defineWrite({
      name: 'media.upload',
      method: 'POST',
      path: '/{Version}/{Phone-Number-ID}/media',
      sentence: 'Uploads an image, audio file, video, document or sticker for messages of a phone number.',
      permission: 'messaging',
      file: mediaFile,
      input: makeUploadSchema(vocabulary),
      output: uploadedSchema,
      examples: {
        input: { messaging_product: vocabulary.product, file: `data:image/png;base64,${examplePicture.base64}` },
        output: { id: exampleId },
      },
      async prepare({ db, node, file, settings }) {
        const mime_type = await checkArrived(file, settings)
        await checkRoom(db, accountOf(node), file.size, settings)
        await file.keep()
        return { mime_type, sha256: file.sha256, file_size: file.size }
      },
      async run({ db, node, clock, random, settings }, _input, stored) {
        const id = await createNode(db, random, 'media', node)
        const expires_time = clock.now() + settings.mediaLifetime
        const media = { id, phone_number_id: node.id, account_id: accountOf(node), ...stored, expires_time }
        await insertMediaWithin(db, { clock, random }, media, settings)
        return { id }
      },
    }),
    defineRead({
      name: 'media.read',
      method: 'GET',
      path: '/{Version}/{Media-ID}',
      sentence: 'Reads a media file, with a link to its bytes that is valid for a few minutes.',
      permission: 'messaging',
      input: mediaQuerySchema,
      output: makeMediaSchema(vocabulary),
      examples: {
        output: {
          messaging_product: vocabulary.product,
          url: `http://127.0.0.1:8080/media/${exampleId}?expires=1780315500&signature=MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0`,
          mime_type: 'image/png',
          sha256: '6dc7c43ae4ce89ef3dbbba35b22d8e1aeb8c9d6b9a7ee1b9ae5ab9d9ee2a0f83',
          file_size: 70,
          id: exampleId,
        },
        first: [uploadMedium],
      },
      async run({ db, node, clock, sealLink }, { phone_number_id }) {
        const { id, mime_type, sha256, file_size } = await findMedia(db, node, clock, phone_number_id)
        const url = sealLink(mediaPath(id))
        return { messaging_product: vocabulary.product, url, mime_type, sha256, file_size, id }
      },
    }),
    defineWrite({
      name: 'media.delete',
      method: 'DELETE',
      path: '/{Version}/{Media-ID}',
      sentence: 'Deletes a media file; its link is invalid from then on.',
      permission: 'messaging',
      input: mediaQuerySchema,
      output: successSchema,
      examples: { output: { success: true }, first: [uploadMedium] },
      async run({ db, node, clock, random }, { phone_number_id }) {
        await findMedia(db, node, clock, phone_number_id)
        if (!(await deleteMedia(db, { clock, random }, node.id))) throw notFound()
        return { success: true }
      },
    }),
  ]
}
