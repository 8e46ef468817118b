import fc from 'fast-check'

/** Anything that scans a text: a pattern, or a function with patterns of its own. */
export type Look = (text: string) => unknown

/** A text that takes far more than twice the time when it is twice as long. */
export interface SlowText {
  readonly start: string
  readonly repeated: string
  readonly end: string
  /** How often it was repeated, how many milliseconds that took, and how many half as often. */
  readonly times: number
  readonly milliseconds: number
  readonly halfMilliseconds: number
}

/** Small ones first: an exponential pattern would never come to an end with the large ones. */
const counts = [16, 20, 24, 28, 32, 64, 256, 1000, 3000]
/** What is below is not looked at closer: 3000 characters take a linear pattern a tenth of this, and a quadratic one many times as long. */
const noticedMilliseconds = 4
/** Of linear work it is 2, of quadratic 4. */
const maxRatio = 3
const maxAlphabet = 11

/** A text that shows that a pattern is worse than linear; undefined when none was found. */
export function findSlowText(look: Look, texts: Iterable<HostileText>): SlowText | undefined {
  for (const text of texts) {
    const slow = findSlowCount(look, text)
    if (slow) return slow
  }
  return undefined
}

export type HostileText = Pick<SlowText, 'start' | 'repeated' | 'end'>

function findSlowCount(look: Look, text: HostileText): SlowText | undefined {
  for (const times of counts) {
    if (measure(look, text, times, 1) < noticedMilliseconds) continue
    // The machine may have been busy: repeat, and take the best of several.
    const milliseconds = measure(look, text, times, 5)
    const halfMilliseconds = measure(look, text, times / 2, 5)
    if (milliseconds >= noticedMilliseconds && milliseconds > maxRatio * halfMilliseconds) {
      return { ...text, times, milliseconds, halfMilliseconds }
    }
  }
  return undefined
}

function measure(look: Look, { start, repeated, end }: HostileText, times: number, rounds: number): number {
  const text = `${start}${repeated.repeat(times)}${end}`
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    look(text)
    best = Math.min(best, performance.now() - began)
    // One that takes as long as this is not mistaken.
    if (best > 50 * noticedMilliseconds) break
  }
  return best
}

/** Finds all matches in a text, as `replaceAll` and `matchAll` do, or the first. */
export function lookWith(pattern: RegExp): Look {
  return (text) => text.replace(pattern, '')
}

/**
 * Texts made from a pattern's own characters: each of them and each two of them again and again, alone and behind the start of
 * texts that it takes, with an end that it may not take.
 */
export function* makeHostileTexts(pattern: RegExp): Generator<HostileText> {
  const alphabet = listCharacters(pattern.source)
  yield* repeatCharacters(alphabet)
  for (const start of listStarts(pattern)) {
    for (const repeated of alphabet) yield { start, repeated, end: '\0' }
    for (const length of [2, 3, 5]) {
      if (start.length > length) yield { start, repeated: start.slice(-length), end: '\0' }
    }
  }
}

/** Each of some characters and each two of them, again and again. */
export function* repeatCharacters(characters: readonly string[]): Generator<HostileText> {
  const pairs = characters.flatMap((first) => characters.filter((one) => one !== first).map((second) => first + second))
  for (const repeated of [...characters, ...pairs]) {
    for (const end of ['', '\0']) yield { start: '', repeated, end }
  }
}

/** What a pattern names by itself, and one of each kind that its classes hold. */
function listCharacters(source: string): string[] {
  const classes: readonly (readonly [RegExp, string])[] = [
    [/\\d|0-9/, '0'],
    [/\\w|a-z|\\p\{L|\.|\[\^|\\S|\\D/i, 'a'],
    [/A-Z/, 'A'],
    [/\\s|\\D|\\W|\[\^/, ' '],
    [/\\n|\\s|\$/, '\n'],
    [/\\W|\[\^|\.|\\S/, '-'],
    [/\\p|\\u|\[\^/, 'é'],
  ]
  const named = source
    .replaceAll(
      /\\[dDwWsSbBpP](?:\{\w+\})?|\{\d*,?\d*\}|\(\?(?:<?[=!]|:|<\w+>)|\w-\w|\\x[\da-f]{2}|\\u[\da-f]{4}/gi,
      '',
    )
    .replaceAll(/[\\[\]{}()*+?|^]/g, '')
  const kinds = classes.filter(([kind]) => kind.test(source)).map(([, character]) => character)
  // Signs before letters: those stand between the repeated parts.
  const signs = [...named.replaceAll(/\w/g, '')].filter((sign) => sign !== '$')
  const escaped = [...source.matchAll(/\\([^\w\s])/g)].map(([, sign]) => sign as string)
  return [...new Set([...kinds, ...escaped, ...signs, ...named.replaceAll(/\W/g, '')])].slice(0, maxAlphabet)
}

/** The beginnings of texts that a pattern takes, so that what is behind its first parts is reached as well. */
function listStarts(pattern: RegExp): string[] {
  try {
    const flags = pattern.flags.replaceAll(/[gy]/g, '')
    const samples = fc.sample(fc.stringMatching(new RegExp(pattern.source, flags)), { numRuns: 4, seed: 7 })
    return [...new Set(samples.flatMap(cutAtSteps))].slice(0, 40)
  } catch {
    // It has parts that texts cannot be made from; its own characters remain.
    return []
  }
}

/** At most a dozen beginnings of a text, the text itself among them. */
function cutAtSteps(text: string): string[] {
  const short = text.slice(0, 200)
  const step = Math.max(1, Math.ceil(short.length / 12))
  return Array.from({ length: Math.ceil(short.length / step) }, (_, index) => short.slice(0, (index + 1) * step))
}
