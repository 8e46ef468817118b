import { randomBytes, randomInt } from 'node:crypto'

/** Where chance comes from; tests may bring a seeded one. */
export interface Random {
  bytes(length: number): Buffer
  /** An integer from `min` (included) to `max` (not included). */
  integer(min: number, max: number): number
}

export const systemRandom: Random = { bytes: randomBytes, integer: randomInt }

/** A UUID of version 4. */
export function makeUuid(random: Random): string {
  const bytes = random.bytes(16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
