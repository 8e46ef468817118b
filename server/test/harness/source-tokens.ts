/** A word or a pattern of a source, or anything else. */
export interface Token {
  readonly kind: 'word' | 'pattern' | 'other'
  readonly text: string
}

const blank = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const word = /[\p{L}\p{N}_$#]+/uy
const text = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y
const pattern = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
const sign = /[^\s]/y
/** After these a slash begins a pattern; after every other word it divides. */
const beforePattern = new Set(['return', 'typeof', 'case', 'throw', 'yield', 'in', 'of', 'await'])

/** Reads the tokens of a source without comments, and with what stands in the holes of templates. */
export function readTokens(source: string): Token[] {
  const tokens: Token[] = []
  /** How many braces are open within each hole of a template that is open. */
  const holes: number[] = []
  let at = 0

  function take(expression: RegExp): string | undefined {
    expression.lastIndex = at
    const found = expression.exec(source)?.[0]
    if (found !== undefined) at += found.length
    return found
  }

  /** Goes on to the end of a template, or to its next hole, and returns which sign that is. */
  function skipTemplate(): string {
    for (; at < source.length; at++) {
      if (source[at] === '\\') at++
      else if (source[at] === '`') break
      else if (source.startsWith('${', at)) {
        holes.push(0)
        at += 2
        return '{'
      }
    }
    at++
    return '`'
  }

  function readSign(): string {
    const found = take(sign) ?? ''
    const open = holes.at(-1)
    if (found === '`') return skipTemplate()
    if (open !== undefined && found === '{') holes[holes.length - 1] = open + 1
    else if (open !== undefined && found === '}') {
      if (open > 0) holes[holes.length - 1] = open - 1
      else {
        holes.pop()
        return skipTemplate()
      }
    }
    return found
  }

  while (at < source.length) {
    if (take(blank) !== undefined) continue
    const quoted = take(text)
    const written = quoted === undefined && mayBeginPattern(tokens.at(-1)) ? take(pattern) : undefined
    const named = quoted ?? written ?? take(word)
    if (written !== undefined) tokens.push({ kind: 'pattern', text: written })
    else if (quoted !== undefined || named === undefined) tokens.push({ kind: 'other', text: quoted ?? readSign() })
    else tokens.push({ kind: 'word', text: named })
  }
  return tokens
}

function mayBeginPattern(before: Token | undefined): boolean {
  if (!before) return true
  if (before.kind === 'word') return beforePattern.has(before.text)
  return before.kind === 'other' && !/[)\]}'"`]$/.test(before.text)
}
