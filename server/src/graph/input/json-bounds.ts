/** Limits of a JSON text. Parsing many small values takes far longer than the same number of bytes in one large value. */
export interface JsonBounds {
  /** Members of objects and items of arrays, at all depths together. */
  readonly values: number
  /** The depth of nested objects and arrays. */
  readonly depth: number
}

/** Deeper than any input of the API, and far from the depth that recursion cannot handle. */
export const maxJsonDepth = 64

/** Many times the values of any request of the API. */
export const requestBounds: JsonBounds = { values: 20_000, depth: maxJsonDepth }

const quote = 0x22
const backslash = 0x5c
/** After so many characters without a match a regular expression takes over: it is many times faster, but slower to start. */
const quietLimit = 32
const structure = /["[\]{},]/g
const endOrEscape = /["\\]/g

/**
 * Which limit a JSON text exceeds, before it is parsed; undefined when none. Text that is not JSON is scanned only as far as it is
 * JSON: nothing after the first mistake is ever parsed.
 */
export function findJsonExcess(text: string, { values, depth }: JsonBounds): keyof JsonBounds | undefined {
  const { length } = text
  let valuesLeft = values
  let depthLeft = depth
  // A value and its name: with more quotes the text holds more values, or is not JSON.
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
        if (++quiet === quietLimit) {
          at = findNext(structure, text, at + 1) - 1
          quiet = 0
        }
    }
  }
  return undefined
}

/** The position of the quote that ends the text starting here. */
export function findTextEnd(text: string, start: number): number {
  let at = start
  let quiet = 0
  while (at < text.length) {
    const character = text.charCodeAt(at)
    if (character === quote) return at
    if (character === backslash) {
      at += 2
      quiet = 0
    } else if (++quiet === quietLimit) {
      at = findNext(endOrEscape, text, at + 1)
      quiet = 0
    } else at++
  }
  return text.length
}

/** The next match of a pattern, or the end. */
function findNext(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex - 1 : text.length
}
