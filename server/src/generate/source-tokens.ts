/** What a source is made of, as far as the messages in it are concerned. */
export type Token =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'sign'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'template'; readonly parts: readonly (string | readonly Token[])[] }
  | { readonly kind: 'pattern'; readonly text: string }

const blank = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const word = /[\p{L}\p{N}_$#]+/uy
const text = /'((?:[^'\\\n]|\\[\s\S])*)'|"((?:[^"\\\n]|\\[\s\S])*)"/y
const pattern = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
const sign = /\?\?|\?\.|=>|[^\s]/y
/** After these a slash begins a pattern; after everything else it divides. */
const beforePattern = new Set(['return', 'typeof', 'case', 'throw', 'yield', 'in', 'of', 'await'])

/** Reads the tokens of a source, without its comments. */
export function readTokens(source: string): Token[] {
  return new Reader(source).readUntil(undefined)
}

class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** Reads to the brace that closes the hole of a template, or to the end. */
  readUntil(closing: '}' | undefined): Token[] {
    const tokens: Token[] = []
    let depth = 0
    while (this.#at < this.#source.length) {
      if (this.#take(blank)) continue
      const token = this.#readToken(tokens.at(-1))
      if (token.kind === 'sign' && token.text === '{') depth++
      if (token.kind === 'sign' && token.text === '}' && depth-- === 0 && closing) return tokens
      tokens.push(token)
    }
    return tokens
  }

  #readToken(before: Token | undefined): Token {
    if (this.#source[this.#at] === '`') return this.#readTemplate()
    const quoted = this.#take(text)
    if (quoted) return { kind: 'text', text: readEscapes(quoted[1] ?? quoted[2] ?? '') }
    const expression = mayBeginPattern(before) ? this.#take(pattern) : undefined
    if (expression) return { kind: 'pattern', text: expression[0] }
    const named = this.#take(word)
    if (named) return { kind: 'word', text: named[0] }
    const [found] = this.#take(sign) ?? []
    if (found === undefined)
      throw new Error(`the source cannot be read from ${this.#source.slice(this.#at, this.#at + 40)}`)
    return { kind: 'sign', text: found }
  }

  #readTemplate(): Token {
    const parts: (string | Token[])[] = []
    let from = ++this.#at
    for (;;) {
      const here = this.#source[this.#at]
      if (here === undefined) throw new Error('a template of the source does not end')
      if (here === '\\') this.#at += 2
      else if (here === '`' || (here === '$' && this.#source[this.#at + 1] === '{')) {
        if (this.#at > from) parts.push(readEscapes(this.#source.slice(from, this.#at)))
        this.#at += here === '`' ? 1 : 2
        if (here === '`') return { kind: 'template', parts }
        parts.push(this.readUntil('}'))
        from = this.#at
      } else this.#at++
    }
  }

  #take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (!found) return undefined
    this.#at = expression.lastIndex
    return found
  }
}

function mayBeginPattern(before: Token | undefined): boolean {
  if (!before) return true
  if (before.kind === 'word') return beforePattern.has(before.text)
  return before.kind === 'sign' && ![')', ']', '}'].includes(before.text)
}

function readEscapes(raw: string): string {
  const known: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0' }
  return raw.replaceAll(
    /\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|x([0-9a-f]{2})|([\s\S]))/gi,
    (_, braced, four, two, one) =>
      one === undefined ? String.fromCodePoint(Number.parseInt(braced ?? four ?? two, 16)) : (known[one] ?? one),
  )
}

/** The groups of tokens between the commas of what follows an opening bracket, and where its closing one is. */
export function readGroups(tokens: readonly Token[], open: number): { groups: Token[][]; end: number } {
  const groups: Token[][] = [[]]
  let depth = 0
  for (let at = open; at < tokens.length; at++) {
    const token = tokens[at] as Token
    const mark = token.kind === 'sign' ? token.text : ''
    if ('([{'.includes(mark) && mark !== '' && depth++ === 0) continue
    if (')]}'.includes(mark) && mark !== '' && --depth === 0) {
      return { groups: groups.filter((group) => group.length > 0), end: at }
    }
    if (mark === ',' && depth === 1) groups.push([])
    else groups.at(-1)?.push(token)
  }
  throw new Error('a bracket of the source is not closed')
}
