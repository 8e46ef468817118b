import { Type } from 'typebox'

const signatureStatuses = ['VALID', 'MISMATCH'] as const
export type SignatureStatus = (typeof signatureStatuses)[number]

/** A bound on the text to parse; the largest accepted key fills less than a quarter of it. */
const maxPemLength = 8192

export const keyUploadSchema = Type.Object({
  business_public_key: Type.String({
    maxLength: maxPemLength,
    description: 'An RSA public key of 2048 to 8192 bits in PEM: BEGIN PUBLIC KEY or BEGIN RSA PUBLIC KEY.',
    'x-expects': `an RSA public key in PEM, a string of at most ${maxPemLength} characters`,
  }),
})

const publicKeyRecordSchema = Type.Object({
  business_public_key: Type.Optional(Type.String()),
  business_public_key_signature_status: Type.Optional(Type.Enum(signatureStatuses)),
})
export const publicKeyFields = Object.keys(publicKeyRecordSchema.properties)

export const publicKeyListSchema = Type.Object({ data: Type.Array(publicKeyRecordSchema) })
