/** A piece of a line of a message, as WhatsApp reads it. */
export type Inline =
  | { readonly kind: 'text' | 'code' | 'link'; readonly text: string }
  | { readonly kind: 'bold' | 'italic' | 'strike'; readonly children: readonly Inline[] }

export type Block =
  | { readonly kind: 'text' | 'quote'; readonly lines: readonly (readonly Inline[])[] }
  | { readonly kind: 'list'; readonly lines: readonly (readonly Inline[])[] }
  | { readonly kind: 'ordered'; readonly start: number; readonly lines: readonly (readonly Inline[])[] }
  | { readonly kind: 'pre'; readonly text: string }

const kinds = { '*': 'bold', _: 'italic', '~': 'strike' } as const
type Marker = keyof typeof kinds

const fence = '```'
const linkPattern = /https?:\/\/[^\s<>"'`]{1,2000}/y
/** What belongs to the sentence around a link, not to the link. */
const linkEnd = new Set('.,!?;:)]}*_~')
const wordLetter = /[\p{L}\p{N}]/u

/** Reads a text of a message; each letter is looked at a fixed number of times, whatever is nested in it. */
export function parseMarkup(body: string): readonly Block[] {
  const blocks: Block[] = []
  const parts = body.split(fence)
  // An opening fence without an end is text.
  const fenced = parts.length % 2 === 0 ? parts.length - 1 : parts.length
  for (const [index, part] of parts.entries()) {
    const isCode = index % 2 === 1 && index < fenced && part !== ''
    if (isCode) blocks.push({ kind: 'pre', text: part.replace(/^\n|\n$/g, '') })
    else
      parseLines(
        index % 2 === 1 ? (part === '' ? fence + fence : fence + part) : trimAround(parts, index, part),
        blocks,
      )
  }
  return blocks
}

/** The line breaks beside a block of code end it, and are no lines of their own. */
function trimAround(parts: readonly string[], index: number, part: string): string {
  const after = index > 0 && part.startsWith('\n') ? part.slice(1) : part
  const isLast = index === parts.length - 1
  return !isLast && after.endsWith('\n') ? after.slice(0, -1) : after
}

function parseLines(text: string, blocks: Block[]): void {
  if (text === '') return
  for (const line of text.split('\n')) {
    const quote = /^> ?(.+)$/.exec(line)
    const item = /^\s*[*-] +(\S.*)$/.exec(line)
    const numbered = /^\s*(\d{1,3})\. +(\S.*)$/.exec(line)
    if (quote) addLine(blocks, 'quote', quote[1] ?? '')
    else if (item) addLine(blocks, 'list', item[1] ?? '')
    else if (numbered) addNumbered(blocks, Number(numbered[1]), numbered[2] ?? '')
    else addLine(blocks, 'text', line)
  }
}

function addLine(blocks: Block[], kind: 'text' | 'quote' | 'list', line: string): void {
  const last = blocks.at(-1)
  const parsed = parseInline(line)
  if (last?.kind === kind) (last.lines as (readonly Inline[])[]).push(parsed)
  else blocks.push({ kind, lines: [parsed] })
}

function addNumbered(blocks: Block[], number: number, line: string): void {
  const last = blocks.at(-1)
  const parsed = parseInline(line)
  if (last?.kind === 'ordered' && number === last.start + last.lines.length) {
    ;(last.lines as (readonly Inline[])[]).push(parsed)
  } else blocks.push({ kind: 'ordered', start: number, lines: [parsed] })
}

interface Open {
  readonly marker: Marker | undefined
  readonly children: Inline[]
}

/**
 * Reads one line. A marker opens at the start of a word and closes at the end of one; each kind is open once at most, so that the
 * nesting is three deep at the most, and markers that are left over are letters.
 */
function parseInline(line: string): readonly Inline[] {
  const stack: Open[] = [{ marker: undefined, children: [] }]
  const lastTick = line.lastIndexOf('`')
  for (let at = 0; at < line.length; ) {
    const letter = line.charAt(at)
    const taken = takeWhole(line, at, letter, lastTick)
    if (taken) {
      push(stack, taken.piece)
      at += taken.length
      continue
    }
    if (isMarker(letter)) mark(stack, line, at, letter)
    else pushText(stack, letter)
    at += 1
  }
  while (stack.length > 1) release(stack)
  return stack[0]?.children ?? []
}

/** Code and links, in which nothing else is marked. */
function takeWhole(
  line: string,
  at: number,
  letter: string,
  lastTick: number,
): { readonly piece: Inline; readonly length: number } | undefined {
  if (letter === '`' && at < lastTick) {
    const end = line.indexOf('`', at + 1)
    if (end > at + 1) return { piece: { kind: 'code', text: line.slice(at + 1, end) }, length: end + 1 - at }
  }
  if (letter !== 'h' || isWord(line.charAt(at - 1))) return undefined
  linkPattern.lastIndex = at
  const text = trimEnd(linkPattern.exec(line)?.[0] ?? '')
  return URL.canParse(text) ? { piece: { kind: 'link', text }, length: text.length } : undefined
}

function trimEnd(link: string): string {
  let end = link.length
  while (end > 0 && linkEnd.has(link.charAt(end - 1))) end -= 1
  return link.slice(0, end)
}

function isMarker(letter: string): letter is Marker {
  return Object.hasOwn(kinds, letter)
}

function mark(stack: Open[], line: string, at: number, letter: Marker): void {
  const before = line.charAt(at - 1)
  const after = line.charAt(at + 1)
  const opened = stack.findLastIndex(({ marker }) => marker === letter)
  const closes = opened > 0 && !isBlank(before) && before !== letter && !isWord(after)
  if (closes) {
    while (stack.length - 1 > opened) release(stack)
    const { children } = stack.pop() as Open
    push(stack, { kind: kinds[letter], children })
  } else if (opened < 1 && !isWord(before) && !isBlank(after) && after !== letter) {
    stack.push({ marker: letter, children: [] })
  } else pushText(stack, letter)
}

/** Turns a marker that was never closed back into a letter. */
function release(stack: Open[]): void {
  const { marker, children } = stack.pop() as Open
  pushText(stack, marker ?? '')
  for (const child of children) {
    if (child.kind === 'text') pushText(stack, child.text)
    else push(stack, child)
  }
}

function push(stack: readonly Open[], piece: Inline): void {
  stack.at(-1)?.children.push(piece)
}

function pushText(stack: readonly Open[], text: string): void {
  const { children } = stack.at(-1) as Open
  const last = children.at(-1)
  if (last?.kind === 'text') children[children.length - 1] = { kind: 'text', text: last.text + text }
  else children.push({ kind: 'text', text })
}

function isWord(letter: string): boolean {
  return wordLetter.test(letter)
}

function isBlank(letter: string): boolean {
  return letter === '' || /\s/.test(letter)
}

/** The text without its markup, on one line. */
export function toPlain(body: string): string {
  return parseMarkup(body)
    .map((block) => (block.kind === 'pre' ? block.text : block.lines.map(flatten).join(' ')))
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function flatten(line: readonly Inline[]): string {
  return line.map((piece) => ('children' in piece ? flatten(piece.children) : piece.text)).join('')
}

const jumboPattern = /^(?:\p{RGI_Emoji}\s?){1,3}$/v

/** Whether a text is a few emoji and nothing else, which phones write large. */
export function isJumbo(body: string): boolean {
  return body.length <= 40 && jumboPattern.test(body)
}
