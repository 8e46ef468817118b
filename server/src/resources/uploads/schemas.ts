import { Type } from 'typebox'

const uploadTypes = ['image/jpeg', 'image/png', 'video/mp4', 'application/pdf'] as const
export type UploadType = (typeof uploadTypes)[number]

/** The largest `file_length` is a setting: see the rules. */
export const uploadCreateSchema = Type.Object({
  file_length: Type.Integer({
    minimum: 1,
    description:
      'The size of the file in bytes; by default at most 5 MiB for a picture, 16 MiB for a video, 100 MiB for a PDF.',
  }),
  file_type: Type.Enum(uploadTypes, { description: 'What the bytes must turn out to be.' }),
  file_name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'The name of the file.' })),
})

export const uploadAppendSchema = Type.Object({
  file_offset: Type.Integer({ minimum: 0, description: 'How many bytes have arrived already: where these go on.' }),
})

const id = Type.String({ description: '`upload:` and what names it.' })

export const uploadCreatedSchema = Type.Object({ id })

export const uploadStateSchema = Type.Object({
  id,
  file_offset: Type.Integer({ minimum: 0, description: 'How many bytes have arrived: where the next ones go on.' }),
})

export const uploadAppendedSchema = Type.Union([
  Type.Object({ h: Type.String({ description: 'The handle of the file, now that all of it has arrived.' }) }),
  uploadStateSchema,
])
