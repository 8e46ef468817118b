import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { Random } from '../../base/keys/random.ts'

/** The signed facts: this key was uploaded for this number under this registration. */
export interface SignedFacts {
  readonly phone_number_id: string
  readonly registration_epoch: number
  readonly business_public_key: string
}

/** The PKCS #8 prefix of the 32 secret bytes of an Ed25519 key (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Makes a pair of Ed25519 keys in PEM, from injected randomness. */
export function makeSigningPair(random: Random): { public_key: string; private_key: string } {
  const der = Buffer.concat([pkcs8Prefix, random.bytes(32)])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return {
    public_key: createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }).toString(),
    private_key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  }
}

export function signFacts(private_key: string, facts: SignedFacts): string {
  return sign(null, writeFacts(facts), private_key).toString('base64url')
}

export function isSignatureGood(public_key: string, facts: SignedFacts, signature: string): boolean {
  return verify(null, writeFacts(facts), public_key, Buffer.from(signature, 'base64url'))
}

/** Id and epoch are digits, so different facts never have the same bytes; the first line separates other uses of the key. */
function writeFacts({ phone_number_id, registration_epoch, business_public_key }: SignedFacts): Buffer {
  return Buffer.from(`business public key 1\n${phone_number_id}\n${registration_epoch}\n${business_public_key}`)
}
