import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'

/** The position of a row in its list: the sort value, and the id that breaks ties. */
export type CursorKey = readonly [sortValue: number | string, id: string]

const cipher = 'aes-256-ctr'
const macBytes = 16

/**
 * Makes opaque cursors that cannot be read, forged or altered: the key of a row, encrypted, with a keyed hash over the key and the list
 * (operation, node, sort). The hash is also the initialization vector (SIV), so that the same row of the same list always has the
 * same cursor, and no two others share a vector.
 */
export class CursorSealer {
  readonly #macKey: KeyObject
  readonly #cipherKey: KeyObject

  constructor(secret: string) {
    this.#macKey = deriveKey(secret, 'cursor hash')
    this.#cipherKey = deriveKey(secret, 'cursor encryption')
  }

  seal(list: string, key: CursorKey): string {
    const content = Buffer.from(JSON.stringify(key))
    const mac = this.#hash(list, content)
    return Buffer.concat([mac, createCipheriv(cipher, this.#cipherKey, mac).update(content)]).toString('base64url')
  }

  /** The key, or undefined when the cursor was altered or belongs to another list. */
  open(list: string, cursor: string): CursorKey | undefined {
    if (!/^[\w-]{24,1000}$/.test(cursor)) return undefined
    const bytes = Buffer.from(cursor, 'base64url')
    // base64 allows two spellings of the same bytes; only the one that was issued is accepted.
    if (bytes.toString('base64url') !== cursor) return undefined
    const mac = bytes.subarray(0, macBytes)
    const content = createDecipheriv(cipher, this.#cipherKey, mac).update(bytes.subarray(macBytes))
    if (!timingSafeEqual(mac, this.#hash(list, content))) return undefined
    return JSON.parse(content.toString()) as CursorKey
  }

  #hash(list: string, content: Buffer): Buffer {
    return createHmac('sha256', this.#macKey).update(`${list}\0`).update(content).digest().subarray(0, macBytes)
  }
}

function deriveKey(secret: string, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)))
}
