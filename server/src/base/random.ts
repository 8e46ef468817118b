import { randomBytes, randomInt } from 'node:crypto'

/** Where chance comes from; tests may bring a seeded one. */
export interface Random {
  bytes(length: number): Buffer
  /** An integer from `min` (included) to `max` (not included). */
  integer(min: number, max: number): number
}

export const systemRandom: Random = { bytes: randomBytes, integer: randomInt }
