import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'

export interface RsaPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
  /** The public half as most tools write it. */
  readonly pem: string
}

export function makeRsaPair(): RsaPair {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { publicKey, privateKey, pem: publicKey.export({ format: 'pem', type: 'spki' }).toString() }
}

export interface CraftedKey {
  readonly bits?: number
  readonly exponent?: bigint
  readonly evenModulus?: boolean
}

/** A public key of any size and exponent, in no time: nobody can tell from a modulus whether it has two prime factors. */
export function craftRsaKey({ bits = 2048, exponent = 65537n, evenModulus = false }: CraftedKey): KeyObject {
  const modulus = (1n << BigInt(bits)) - (evenModulus ? 2n : 1n)
  return createPublicKey({ format: 'jwk', key: { kty: 'RSA', n: toBase64Url(modulus), e: toBase64Url(exponent) } })
}

export function toSpki(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' })
}

export function toPkcs1(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'pkcs1' })
}

/** Bytes in PEM under any label, in lines of any length. */
export function writePem(label: string, der: Buffer, width = 64): string {
  const lines = der.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

function toBase64Url(number: bigint): string {
  const digits = number.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex').toString('base64url')
}
