import { Type } from 'typebox'
import { defineOpen } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewReplyOperation } from '../../graph/operation.ts'
import { Reply } from '../../graph/reply.ts'
import { findPictureForAnyone } from './store.ts'

/** Any other text would only cost a query, and the database does not accept every text. */
const idPattern = /^[\w-]{1,64}$/

/** Profile pictures, for anyone who has the address of one. */
export function profilePictures(): NewReplyOperation[] {
  return [
    defineOpen({
      name: 'public.picture',
      path: '/pictures/{id}',
      sentence: "Sends the picture of a number's profile.",
      input: Type.Object({
        id: Type.String({
          description: 'What `profile_picture_url` ends with.',
        }),
      }),
      content: { 'image/*': Type.String({ format: 'binary' }) },
      missing: 'envelope',
      examples: { input: { id: 'AbCdEfGhIjKlMnOpQrStUv' }, output: undefined },
      async run({ db, ports }, { id }) {
        const picture = idPattern.test(id) ? await findPictureForAnyone(db, id) : undefined
        const file = picture && (await ports.files.get(picture.sha256))
        if (!file) throw notFound()
        return new Reply(
          {
            'content-type': picture.mime_type,
            'content-length': file.size,
            // A new picture has a new address, so the content of an address never changes.
            'cache-control': 'public, max-age=31536000, immutable',
            'x-content-type-options': 'nosniff',
            'content-security-policy': "default-src 'none'; sandbox",
          },
          file.stream,
        )
      },
    }),
  ]
}
