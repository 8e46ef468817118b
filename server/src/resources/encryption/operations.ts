import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { lockPhoneNumber } from '../phone-numbers/store.ts'
import { judgeSignature, readPublicKey } from './rules.ts'
import { keyUploadSchema, publicKeyFields, publicKeyListSchema } from './schemas.ts'
import { signFacts } from './signatures.ts'
import { takeSigningKey } from './signing-keys.ts'
import { findPublicKey, replacePublicKey } from './store.ts'

const exampleKey = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAnSLy2xQBDNkpz6hrLTEo
fvKMOEWQhLxmm4kdKDBAjOwe7GcJZaVAK98dRwYw8doezkQuB2fsiH6S59oG3PHh
osHNkoCleRXyNSxN7/A++DbIQ9fCfp1pOnAhEEeofgVuYaOlKIWPt25XiN2jX568
EK4r8uZrbAiNk5+OxvLK6ZxNX7lenkLLGzgECKaH5mt2mvodyN1WG1HQ09OyY0xv
v47n32ChBiufYF8N3YavEDJA3Kw6MaqPb17Yht2EhGPvaQm1J4dUq7R1pXbUb+AY
ndqpQk+KaXK7oFV/GZE1bHID58enngKEDd5umPop2m0br2VWGwZfgDCh24/R9FqM
0QIDAQAB
-----END PUBLIC KEY-----
`

export const encryptionChapter: Chapter = {
  name: 'encryption',
  title: 'Encryption key',
  rows: encryptionOperations,
  leftOutOfWorld: { 'public keys of numbers': 'business_public_keys' },
}

function encryptionOperations(vocabulary: Vocabulary): NewOperation[] {
  const path = `/{Version}/{Phone-Number-ID}/${vocabulary.product}_business_encryption` as const
  return [
    defineRead({
      name: 'encryption.read',
      method: 'GET',
      path,
      sentence:
        'Reads the public key that payloads for a phone number are encrypted with, and whether its signature is valid.',
      permission: 'management',
      fields: { available: publicKeyFields, defaults: publicKeyFields, mode: 'replace' },
      input: Type.Object({}),
      output: publicKeyListSchema,
      examples: {
        output: { data: [{ business_public_key: exampleKey, business_public_key_signature_status: 'VALID' }] },
      },
      async run({ db, node, project }) {
        const found = await findPublicKey(db, node)
        if (!found) return { data: [] }
        return { data: [project({ ...found, business_public_key_signature_status: judgeSignature(found) })] }
      },
    }),
    defineWrite({
      name: 'encryption.upload',
      method: 'POST',
      path,
      sentence: 'Checks, signs and stores the public key of a phone number, in place of the one before.',
      permission: 'management',
      rateClass: 'key_upload',
      input: keyUploadSchema,
      output: successSchema,
      examples: { input: { business_public_key: exampleKey }, output: { success: true } },
      async prepare(_context, { business_public_key }) {
        return readPublicKey(business_public_key)
      },
      async run({ db, node, clock, random }, _input, business_public_key) {
        // Locked, so that an upload comes entirely before or after a registration.
        const { registration_epoch } = await lockPhoneNumber(db, node)
        const key = await takeSigningKey(db, clock, random)
        const facts = { phone_number_id: node.id, registration_epoch, business_public_key }
        await replacePublicKey(db, {
          ...facts,
          signing_key_id: key.id,
          signature: signFacts(key.private_key, facts),
        })
        return { success: true }
      },
    }),
  ]
}
