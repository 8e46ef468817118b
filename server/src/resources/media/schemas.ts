import { Type } from 'typebox'
import { idSchema, productName } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { type MediaTypeName, mediaTypes } from './kinds.ts'

export const fileSchema = Type.String({
  description:
    'The file: in multipart/form-data the bytes as they are, elsewhere in base64 or as a data: URL. Its bytes decide its type, whatever its name and what is said of it.',
})

/** Every accepted type, and another name of Ogg with Opus that the public platform accepts. */
const declaredTypes = [...Object.keys(mediaTypes), 'audio/opus']

/** The bytes decide the type of a file; a type that is declared must only be an accepted one. */
const declaredTypeSchema = Type.String({
  pattern: `^(${declaredTypes.map((type) => type.replaceAll('.', '\\.')).join('|')})( *;.*)?$`,
  maxLength: 200,
  'x-expects': `one of ${declaredTypes.join(', ')}`,
  description: 'The type of the file, as the sender knows it; left out: the Content-Type of its part.',
})

export function makeUploadSchema(vocabulary: Vocabulary) {
  const product = productName(vocabulary)
  if (!vocabulary.habits.strict_uploads)
    return Type.Object({ messaging_product: Type.Optional(product), file: fileSchema })
  return Type.Object({ messaging_product: product, type: Type.Optional(declaredTypeSchema), file: fileSchema })
}

export const uploadedSchema = Type.Object({ id: Type.String({ description: 'The media ID.' }) })

/** For operations on an existing media file. */
export const mediaQuerySchema = Type.Object({
  phone_number_id: Type.Optional(
    idSchema({ description: 'The phone number that the media file must belong to; another: 404.' }),
  ),
})

/** A media file in responses. */
export const mediaMembers = {
  mime_type: Type.Enum(Object.keys(mediaTypes) as MediaTypeName[]),
  sha256: Type.String({ description: 'The hash of the bytes: 64 hexadecimal digits.' }),
  file_size: Type.Integer({ minimum: 1, description: 'In bytes.' }),
  id: Type.String(),
}

export function makeMediaSchema(vocabulary: Vocabulary) {
  return Type.Object({
    messaging_product: productName(vocabulary),
    url: Type.String({
      format: 'uri',
      description: 'Where the bytes are, for a few minutes; a request for them needs an access token too.',
    }),
    ...mediaMembers,
  })
}
