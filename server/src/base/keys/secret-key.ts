import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Random } from './random.ts'

/** A key that seals secrets. Its bytes are in a runtime object that neither a log nor JSON shows. */
export interface SecretKey {
  /** Derived from the key, so that a sealed value can name it; reveals nothing about the key itself. */
  readonly id: string
  readonly key: KeyObject
}

const keyBytes = 32
const idCharacters = 16

/** The text forms of a key: 64 hexadecimal digits, or base64 in either alphabet. */
const hexPattern = /^[0-9a-f]{64}$/i
const base64Pattern = /^[\w+/-]{43}=?$/

export function toSecretKey(bytes: Uint8Array): SecretKey {
  const id = createHmac('sha256', bytes).update('switchboard key id').digest('hex').slice(0, idCharacters)
  return { id, key: createSecretKey(bytes) }
}

export function makeSecretKey(random: Random): SecretKey {
  return toSecretKey(random.bytes(keyBytes))
}

/** Undefined when the text is not a key. */
export function parseSecretKey(text: string): SecretKey | undefined {
  if (hexPattern.test(text)) return toSecretKey(Buffer.from(text, 'hex'))
  if (!base64Pattern.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === keyBytes ? toSecretKey(bytes) : undefined
}

/** The key itself as text: for the key file, and for an operator who asked for a new key. */
export function writeSecretKey({ key }: SecretKey): string {
  return key.export().toString('base64')
}
