/** What a JSON text may hold. Reading many small values takes far longer than reading as many bytes of one large. */
export interface JsonBounds {
  /** Members of objects and items of arrays, at all depths together. */
  readonly values: number
  /** Objects and arrays within each other. */
  readonly depth: number
}

/** Deeper than anything that the API takes, and far from what a walk through it could not bear. */
export const maxJsonDepth = 64

/** Many times what any request of the API has to say. */
export const requestBounds: JsonBounds = { values: 20_000, depth: maxJsonDepth }

const quote = 0x22
const backslash = 0x5c
/** Where nothing came for so many characters, a pattern looks for the next: it is many times faster, but takes longer to begin. */
const patience = 32
const structure = /["[\]{},]/g
const endOrEscape = /["\\]/g

/**
 * What a JSON text has too much of, before it is read; undefined when it can be. A text that is not JSON is looked at as far as
 * it is: what comes after the first mistake is never read.
 */
export function findJsonExcess(text: string, { values, depth }: JsonBounds): keyof JsonBounds | undefined {
  const { length } = text
  let valuesLeft = values
  let depthLeft = depth
  // A value and its name: with more of them it holds more values, or is not JSON.
  let textsLeft = 2 * values
  let quiet = 0
  for (let at = 0; at < length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        if (--textsLeft < 0) return 'values'
        at = findTextEnd(text, at + 1)
        quiet = 0
        break
      // A comma.
      case 0x2c:
        if (--valuesLeft < 0) return 'values'
        quiet = 0
        break
      // An opening bracket of either kind.
      case 0x5b:
      case 0x7b:
        if (--depthLeft < 0) return 'depth'
        if (--valuesLeft < 0) return 'values'
        quiet = 0
        break
      // A closing one.
      case 0x5d:
      case 0x7d:
        depthLeft++
        quiet = 0
        break
      default:
        if (++quiet === patience) {
          at = findNext(structure, text, at + 1) - 1
          quiet = 0
        }
    }
  }
  return undefined
}

/** Where the quote is that ends a text, which begins here. */
export function findTextEnd(text: string, start: number): number {
  let at = start
  let quiet = 0
  while (at < text.length) {
    const character = text.charCodeAt(at)
    if (character === quote) return at
    if (character === backslash) {
      at += 2
      quiet = 0
    } else if (++quiet === patience) {
      at = findNext(endOrEscape, text, at + 1)
      quiet = 0
    } else at++
  }
  return text.length
}

/** Where a pattern is found next, or the end. */
function findNext(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex - 1 : text.length
}
