import { randomBytes, randomInt, randomUUID } from 'node:crypto'

/** Where chance comes from; tests may bring a seeded one. */
export interface Random {
  bytes(length: number): Buffer
  /** An integer from `min` (included) to `max` (not included). */
  integer(min: number, max: number): number
  /** 32 hexadecimal digits; cheaper than as many bytes, because the system draws for many at once. */
  trace(): string
}

export const systemRandom: Random = {
  bytes: randomBytes,
  integer: randomInt,
  trace: () => randomUUID().replaceAll('-', ''),
}
