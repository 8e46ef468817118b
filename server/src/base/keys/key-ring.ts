import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import type { Random } from './random.ts'
import type { SecretKey } from './secret-key.ts'

/** A sealed value: format, key id, and nonce, ciphertext and tag in base64url. */
const sealedPattern = /^s1:([0-9a-f]{16}):([\w-]{38,})$/
const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
/** How many opened values are cached, because the same few secrets sign one delivery after the other. */
const maxOpened = 2000
const maxOpenedCharacters = 1024

/** The store's secrets cannot be used because a key is missing; one line for the operator. */
export class SecretsLocked extends Error {}

/** A sealed value that no key of this process opens. */
export class SecretUnreadable extends Error {}

export interface RingKeys {
  readonly keys: readonly SecretKey[]
  /** Reads the source of the keys again: a rotation may have added one. */
  readonly reload: () => readonly SecretKey[]
  readonly random: Random
}

/**
 * The keys of a process, and sealing with them. A value is bound to its place (table, column and row), so that somebody with write
 * access to the database cannot move it elsewhere. Locked until the store's keys are known.
 */
export class KeyRing {
  readonly #keys = new Map<string, KeyObject>()
  readonly #opened = new Map<string, { readonly place: string; readonly text: string }>()
  #random: Random | undefined
  #reload: () => readonly SecretKey[] = () => []
  #hashKey: KeyObject | undefined
  #lockedBecause: Error = new SecretsLocked('the secrets of this store were not unlocked')

  unlock({ keys, reload, random }: RingKeys): void {
    this.#add(keys)
    this.#reload = reload
    this.#random = random
  }

  /** Locks it; every attempt to seal or open then fails with this reason. */
  lock(reason: Error): void {
    this.#keys.clear()
    this.#opened.clear()
    this.#random = undefined
    this.#hashKey = undefined
    this.#lockedBecause = reason
  }

  knows(id: string): boolean {
    return this.#findKey(id) !== undefined
  }

  /** The key for hashes of values that are looked up and never read. */
  setHashSecret(secret: string): void {
    this.#hashKey = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'keyed hashes', 32)))
  }

  seal(keyId: string, place: string, text: string): string {
    if (!this.#random) throw this.#lockedBecause
    const key = this.#findKey(keyId)
    if (!key) throw this.#missing(place, keyId)
    const nonce = this.#random.bytes(nonceBytes)
    const sealing = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(place))
    const content = Buffer.concat([nonce, sealing.update(text, 'utf8'), sealing.final(), sealing.getAuthTag()])
    return `s1:${keyId}:${content.toString('base64url')}`
  }

  open(place: string, sealed: string): string {
    const known = this.#opened.get(sealed)
    if (known?.place === place) return known.text
    if (!this.#random) throw this.#lockedBecause
    const text = this.#decipher(place, sealed)
    if (sealed.length <= maxOpenedCharacters) this.#keep(sealed, place, text)
    return text
  }

  /** The text of a value sealed for this place; undefined for anything else, such as a value that was never sealed. */
  tryOpen(place: string, value: string): string | undefined {
    if (!sealedPattern.test(value)) return undefined
    try {
      return this.open(place, value)
    } catch (error) {
      if (error instanceof SecretUnreadable) return undefined
      throw error
    }
  }

  /** A keyed hash, the same for the same text; without the store's keys nobody can find the text. */
  hash(purpose: string, text: string): string {
    if (!this.#hashKey) throw this.#lockedBecause
    const digest = createHmac('sha256', this.#hashKey).update(purpose).update('\0').update(text).digest('base64url')
    return `h1:${digest}`
  }

  #decipher(place: string, sealed: string): string {
    const [, keyId, content] = sealedPattern.exec(sealed) ?? []
    if (keyId === undefined || content === undefined) {
      throw new SecretUnreadable(`${place} is not sealed: it was altered in the database`)
    }
    const key = this.#findKey(keyId)
    if (!key) throw this.#missing(place, keyId)
    const bytes = Buffer.from(content, 'base64url')
    const end = bytes.length - tagBytes
    const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    opening.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(end))
    const text = opening.update(bytes.subarray(nonceBytes, end), undefined, 'utf8')
    try {
      return text + opening.final('utf8')
    } catch {
      throw new SecretUnreadable(`${place} cannot be opened: it was altered in the database, or belongs to another row`)
    }
  }

  #missing(place: string, keyId: string): SecretUnreadable {
    return new SecretUnreadable(
      `${place} needs the key ${keyId}, which this process does not have: set it as SECRETS_KEY or SECRETS_KEY_OLD and start again`,
    )
  }

  #findKey(id: string): KeyObject | undefined {
    const known = this.#keys.get(id)
    if (known) return known
    this.#add(this.#reload())
    return this.#keys.get(id)
  }

  #add(keys: readonly SecretKey[]): void {
    for (const { id, key } of keys) this.#keys.set(id, key)
  }

  #keep(sealed: string, place: string, text: string): void {
    if (this.#opened.size >= maxOpened) {
      const oldest = this.#opened.keys().next().value
      if (oldest !== undefined) this.#opened.delete(oldest)
    }
    this.#opened.set(sealed, { place, text })
  }
}

/** The prefix of the values that a key sealed. */
export function sealedPrefix(keyId: string): string {
  return `s1:${keyId}:`
}
