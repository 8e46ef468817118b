import { randomBytes, randomInt } from 'node:crypto'

/** The source of randomness; tests may use a seeded one. */
export interface Random {
  bytes(length: number): Buffer
  /** An integer from `min` (inclusive) to `max` (exclusive). */
  integer(min: number, max: number): number
  /**
   * 32 hexadecimal digits, no secret. They are drawn in bulk, and those that are drawn together begin alike: then they are neighbours
   * in an index, and what is stored in a moment changes one page of it, not one page each.
   */
  trace(): string
  /** Bytes for an id, in base64url; drawn like traces. */
  id(length: number): string
}

/** How many traces or ids begin alike. */
const drawnAtOnce = 128
const traceDigits = 32
/** Few, because parts of traces are ids too. */
const sharedDigits = 4
/** A multiple of three, which base64 writes as whole characters. */
const sharedBytes = 3

export const systemRandom: Random = {
  bytes: randomBytes,
  integer: randomInt,
  trace: makeTraceSource(),
  id: makeIdSource(),
}

function makeTraceSource(): () => string {
  const own = traceDigits - sharedDigits
  let digits = ''
  let shared = ''
  let used = 0
  return () => {
    if (used === digits.length) {
      digits = randomBytes((drawnAtOnce * own) / 2).toString('hex')
      shared = randomBytes(sharedDigits / 2).toString('hex')
      used = 0
    }
    used += own
    return shared + digits.slice(used - own, used)
  }
}

function makeIdSource(): Random['id'] {
  let block: Buffer = Buffer.alloc(0)
  let shared = ''
  let used = 0
  return (length) => {
    const own = length - sharedBytes
    if (used + own > block.length) {
      block = randomBytes(drawnAtOnce * own)
      shared = randomBytes(sharedBytes).toString('base64url')
      used = 0
    }
    used += own
    return shared + block.toString('base64url', used - own, used)
  }
}
