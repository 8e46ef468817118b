import type { Try } from '../../data/types.ts'

export interface ComparedAttempt extends Try {
  /** Milliseconds since the one before began; undefined for the first. */
  readonly after: number | undefined
  /** Whether it went to another address than the one before. */
  readonly isElsewhere: boolean
}

/** Each attempt beside the one before. */
export function compareAttempts(tries: readonly Try[]): ComparedAttempt[] {
  return tries.map((one, index) => {
    const before = tries[index - 1]
    return {
      ...one,
      after: before && Date.parse(one.time) - Date.parse(before.time),
      isElsewhere: before !== undefined && before.request.url !== one.request.url,
    }
  })
}

/** Headers as they are on the wire, a line each. */
export function writeHeaders(headers: Try['request']['headers']): string {
  if (!headers) return 'Not kept.'
  return Object.entries(headers)
    .flatMap(([name, values]) => (typeof values === 'string' ? [values] : values).map((value) => `${name}: ${value}`))
    .join('\n')
}
