import { createHmac, timingSafeEqual } from 'node:crypto'

/** Where a row stands in its list: the value that the list is sorted by, and the id that breaks ties. */
export type CursorKey = readonly [sortValue: number | string, id: string]

const macBytes = 12

/**
 * Makes cursors that mean nothing to their holder and cannot be made up or altered: the key of a row with a keyed hash over
 * it and over the list (operation, node, sort) that it belongs to.
 */
export class CursorSealer {
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  seal(list: string, key: CursorKey): string {
    const content = Buffer.from(JSON.stringify(key))
    return Buffer.concat([this.#hash(list, content), content]).toString('base64url')
  }

  /** The key, or undefined when the cursor was altered or belongs to another list. */
  open(list: string, cursor: string): CursorKey | undefined {
    if (!/^[\w-]{18,1000}$/.test(cursor)) return undefined
    const bytes = Buffer.from(cursor, 'base64url')
    // Two spellings of the same bytes exist in base64; only the one that was handed out is taken.
    if (bytes.toString('base64url') !== cursor) return undefined
    const content = bytes.subarray(macBytes)
    if (!timingSafeEqual(bytes.subarray(0, macBytes), this.#hash(list, content))) return undefined
    return JSON.parse(content.toString()) as CursorKey
  }

  #hash(list: string, content: Buffer): Buffer {
    return createHmac('sha256', this.#secret).update(list).update('\0').update(content).digest().subarray(0, macBytes)
  }
}
