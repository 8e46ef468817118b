import { createHash } from 'node:crypto'
import { findTextEnd } from '../../graph/json-bounds.ts'

/**
 * Numbers that JavaScript may write differently from how they came: of many digits, with an exponent, close to zero, with a zero
 * at the end of a fraction, or minus zero. Each of them begins behind what can stand before a value.
 */
const delicateNumber = /(?<=[:,[\s])(?:-?(?:[\d.]{16,}|\d[\d.]*[eE]|\d+\.\d*0(?!\d)|0\.0{6})|-0(?![.\d]))/
/** The same with all of its characters, and quotes: a text may hold anything. */
const quoteOrNumber = new RegExp(`"|${delicateNumber.source}[\\d.eE+-]*`, 'g')

/** A body whose values are written again exactly as they came, which JavaScript's own numbers would not be. */
export interface ExactBody {
  readonly body: unknown
  /** Writes a part of the body as JSON. */
  write(part: object): string
}

/**
 * Reads a text again so that every number is kept as it was written: members that nobody here knows are passed on as they
 * came. `parsed` is what the text holds otherwise. The language's own way, a function that is called with the source of every
 * value, takes twenty times as long.
 */
export function keepNumbers(text: string, parsed: unknown): ExactBody {
  if (!delicateNumber.test(text)) return { body: parsed, write: JSON.stringify }
  // A text cannot hold its own hash, so what begins with this was put there here.
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

/** Takes the mark and the quotes away again. */
function unmarkNumbers(json: string, mark: string): string {
  const [start = '', ...others] = json.split(`"${mark}`)
  return start + others.map((piece) => piece.replace('"', '')).join('')
}
