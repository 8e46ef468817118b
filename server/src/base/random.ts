import { randomBytes, randomInt } from 'node:crypto'

/** The source of randomness; tests may use a seeded one. */
export interface Random {
  bytes(length: number): Buffer
  /** An integer from `min` (inclusive) to `max` (exclusive). */
  integer(min: number, max: number): number
  /** 32 hexadecimal digits; cheaper than as many bytes, because they are drawn in bulk. */
  trace(): string
}

export const systemRandom: Random = { bytes: randomBytes, integer: randomInt, trace: makeTraceSource() }

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
