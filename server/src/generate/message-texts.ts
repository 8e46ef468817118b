import type { Token } from './source-tokens.ts'

/** Constants of a source that are written down as they are: texts and numbers. */
export type Constants = ReadonlyMap<string, Token>

const declarations = new Set(['const', 'let'])

/** What a constant is called, and what it is; the last before a place counts, because functions name theirs alike. */
export function readConstants(tokens: readonly Token[], before: number): Map<string, Token> {
  const constants = new Map<string, Token>()
  for (let at = 0; at + 3 < Math.min(tokens.length, before); at++) {
    const [keyword, name, equals, value] = tokens.slice(at, at + 4)
    if (keyword?.kind !== 'word' || !declarations.has(keyword.text) || name?.kind !== 'word') continue
    if (equals?.kind !== 'sign' || equals.text !== '=' || !value) continue
    const isNumber = value.kind === 'word' && /^\d/.test(value.text)
    if (value.kind === 'text' || value.kind === 'template' || isNumber) constants.set(name.text, value)
    else constants.delete(name.text)
  }
  return constants
}

/**
 * The texts that an expression can become, with a name in ‹ › for what is only known when it runs. Undefined where nothing of it
 * is written down: then another place in the source makes its text.
 */
export function readTexts(tokens: readonly Token[], constants: Constants): string[] | undefined {
  const choice = tokens.findIndex((token, at) => isSign(token, '?') && depthAt(tokens, at) === 0)
  if (choice >= 0) {
    const other = findElse(tokens, choice)
    const texts = [tokens.slice(choice + 1, other), tokens.slice(other + 1)].flatMap(
      (branch) => readTexts(branch, constants) ?? [],
    )
    return texts.length > 0 ? texts : undefined
  }
  const [only, ...others] = tokens
  if (!only || others.length > 0) return undefined
  if (only.kind === 'text') return [only.text]
  if (only.kind === 'template') return readTemplate(only.parts, constants)
  if (only.kind !== 'word') return undefined
  const constant = constants.get(only.text)
  return constant && constant !== only ? readTexts([constant], constants) : undefined
}

function readTemplate(parts: readonly (string | readonly Token[])[], constants: Constants): string[] {
  const filled = parts.map((part) =>
    typeof part === 'string' ? [part] : (readTexts(part, constants) ?? readNumber(part, constants) ?? [nameHole(part)]),
  )
  return filled.reduce<string[]>(
    (texts, choices) => texts.flatMap((text) => choices.map((choice) => text + choice)),
    [''],
  )
}

function readNumber(tokens: readonly Token[], constants: Constants): string[] | undefined {
  const [only] = tokens
  if (tokens.length !== 1 || only?.kind !== 'word') return undefined
  const value = constants.get(only.text)
  return value?.kind === 'word' ? [String(BigInt(value.text.replaceAll(/_|n$/g, '')))] : undefined
}

const ofTheLanguage = new Set(['JSON', 'stringify', 'String', 'Object', 'keys', 'Math', 'as', 'Error', 'error'])

/** What holes are called whose expression does not say it well. */
const holeNames: Readonly<Record<string, string>> = {
  describeSchema: 'what is taken',
  nameKind: 'a thing of that kind',
  selection: 'fields',
  shorten: 'value',
  hideCredentials: 'value',
  describe: 'reason',
  listTypes: 'lines',
  formatDuration: 'period',
  simulatedKinds: 'kinds',
}

/** `settings.maxNumbersPerAccount` → ‹max numbers per account› */
function nameHole(tokens: readonly Token[]): string {
  const words = tokens.flatMap((token) => (token.kind === 'word' && !ofTheLanguage.has(token.text) ? [token.text] : []))
  const isPath = tokens.every((token) => token.kind === 'word' || isSign(token, '.') || isSign(token, '?.'))
  const name = (isPath ? words.at(-1) : words[0]) ?? 'reason'
  const spaced = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
  return `‹${holeNames[name] ?? spaced}›`
}

export function isSign(token: Token | undefined, text: string): boolean {
  return token?.kind === 'sign' && token.text === text
}

function depthAt(tokens: readonly Token[], end: number): number {
  return tokens.slice(0, end).reduce((depth, token) => {
    if (token.kind !== 'sign') return depth
    if ('([{'.includes(token.text)) return depth + 1
    return ')]}'.includes(token.text) ? depth - 1 : depth
  }, 0)
}

/** The colon that belongs to a question mark. */
function findElse(tokens: readonly Token[], choice: number): number {
  let open = 0
  for (let at = choice + 1; at < tokens.length; at++) {
    if (depthAt(tokens, at) > 0) continue
    if (isSign(tokens[at], '?')) open++
    if (isSign(tokens[at], ':') && open-- === 0) return at
  }
  throw new Error('a question mark of the source has no colon')
}
