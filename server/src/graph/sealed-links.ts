import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../base/time/clock.ts'
import { minute } from '../base/time/duration.ts'

const macBytes = 24
/** As long as the specification says for the link of a media file. */
const lifetime = 5 * minute

/** Makes links that are valid for a while and cannot be forged, altered or prolonged. */
export class LinkSealer {
  readonly #secret: string
  readonly #clock: Clock

  constructor(secret: string, clock: Clock) {
    this.#secret = secret
    this.#clock = clock
  }

  /** The path with its expiry time and a keyed hash over both. */
  seal(path: string): string {
    const expires = String(Math.floor((this.#clock.now() + lifetime) / 1000))
    return `${path}?expires=${expires}&signature=${this.#hash(path, expires).toString('base64url')}`
  }

  check(path: string, query: Readonly<Record<string, unknown>>): 'good' | 'expired' | 'made up' {
    const { expires, signature } = query
    if (typeof expires !== 'string' || typeof signature !== 'string') return 'made up'
    const given = Buffer.from(signature, 'base64url')
    if (given.length !== macBytes || given.toString('base64url') !== signature) return 'made up'
    if (!timingSafeEqual(given, this.#hash(path, expires))) return 'made up'
    return Number(expires) * 1000 > this.#clock.now() ? 'good' : 'expired'
  }

  #hash(path: string, expires: string): Buffer {
    return createHmac('sha256', this.#secret).update(path).update('\0').update(expires).digest().subarray(0, macBytes)
  }
}
