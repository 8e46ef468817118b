import { createHash } from 'node:crypto'
import { findTextEnd } from '../../../graph/input/json-bounds.ts'

/**
 * Numbers that JavaScript may write differently from the source: with many digits, an exponent, a value close to zero, a trailing zero
 * in a fraction, or minus zero. Each match begins after what can precede a value.
 */
const delicateNumber = /(?<=[:,[\s])(?:-?(?:[\d.]{16,}|\d[\d.]*[eE]|\d+\.\d*0(?!\d)|0\.0{6})|-0(?![.\d]))/
/** The same with all of its characters, and quoted texts, which may hold anything. */
const quoteOrNumber = new RegExp(`"|${delicateNumber.source}[\\d.eE+-]*`, 'g')

/** A body whose values are written again exactly as received, which JavaScript's own numbers would not be. */
export interface ExactBody {
  readonly body: unknown
  /** Writes a part of the body as JSON. */
  write(part: object): string
}

/**
 * Parses a text again so that every number keeps its spelling: unknown members are passed on as received. `parsed` is the text parsed
 * normally. The built-in way, a reviver with the source of every value, takes twenty times as long.
 */
export function keepNumbers(text: string, parsed: unknown): ExactBody {
  if (!delicateNumber.test(text)) return { body: parsed, write: JSON.stringify }
  // A text cannot contain its own hash, so a value that begins with this was put there here.
  const mark = createHash('sha256').update(text).digest('base64url').slice(0, 20)
  return { body: JSON.parse(markNumbers(text, mark)), write: (part) => unmarkNumbers(JSON.stringify(part), mark) }
}

/** Makes each such number a text that begins with the mark. */
function markNumbers(text: string, mark: string): string {
  const pieces: string[] = []
  let from = 0
  quoteOrNumber.lastIndex = 0
  for (let found = quoteOrNumber.exec(text); found; found = quoteOrNumber.exec(text)) {
    const [number] = found
    if (number === '"') quoteOrNumber.lastIndex = findTextEnd(text, found.index + 1) + 1
    else {
      pieces.push(text.slice(from, found.index), `"${mark}${number}"`)
      from = quoteOrNumber.lastIndex
    }
  }
  return pieces.join('') + text.slice(from)
}

/** Removes the mark and the quotes again. */
function unmarkNumbers(json: string, mark: string): string {
  const [start = '', ...others] = json.split(`"${mark}`)
  return start + others.map((piece) => piece.replace('"', '')).join('')
}
