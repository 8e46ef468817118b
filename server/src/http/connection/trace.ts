import type { Random } from '../../base/keys/random.ts'

/** `00-<trace id>-<parent id>-<flags>` of the W3C; all zeros is not a trace. */
const traceparent = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

/** The trace of a request: the caller's own if it sent a well-formed one. */
export function traceOf(header: string | string[] | undefined, random: Random): string {
  const given = typeof header === 'string' ? traceparent.exec(header)?.[1] : undefined
  return given ?? random.trace()
}
