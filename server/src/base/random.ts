import { randomBytes, randomInt } from 'node:crypto'

/** The source of randomness; tests may use a seeded one. */
export interface Random {
  bytes(length: number): Buffer
  /** An integer from `min` (inclusive) to `max` (exclusive). */
  integer(min: number, max: number): number
  /** 32 hexadecimal digits; cheaper than as many bytes, because they are drawn in bulk. */
  trace(): string
}

export const systemRandom: Random = { bytes: makeByteSource(), integer: randomInt, trace: makeTraceSource() }

const bytesAtOnce = 4096
/** Longer ones are keys, and drawn by themselves. */
const shortBytes = 24

/** Short ones are cut from a block that is drawn at once, and handed out once. */
function makeByteSource(): Random['bytes'] {
  let block = Buffer.alloc(0)
  let used = 0
  return (length) => {
    if (length > shortBytes) return randomBytes(length)
    if (used + length > block.length) {
      block = randomBytes(bytesAtOnce)
      used = 0
    }
    const drawn = Buffer.from(block.subarray(used, used + length))
    block.fill(0, used, used + length)
    used += length
    return drawn
  }
}

const traceDigits = 32
const tracesAtOnce = 128

function makeTraceSource(): () => string {
  let digits = ''
  let used = 0
  return () => {
    if (used === digits.length) {
      digits = randomBytes((tracesAtOnce * traceDigits) / 2).toString('hex')
      used = 0
    }
    used += traceDigits
    return digits.slice(used - traceDigits, used)
  }
}
