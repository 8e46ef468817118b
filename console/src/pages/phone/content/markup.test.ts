import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Block, type Inline, isJumbo, parseMarkup, toPlain } from './markup.ts'

const tags = { bold: 'b', italic: 'i', strike: 's', code: 'code', link: 'a' } as const

function writeLine(line: readonly Inline[]): string {
  return line
    .map((piece) => {
      if ('children' in piece) return `<${tags[piece.kind]}>${writeLine(piece.children)}</${tags[piece.kind]}>`
      return piece.kind === 'text' ? piece.text : `<${tags[piece.kind]}>${piece.text}</${tags[piece.kind]}>`
    })
    .join('')
}

function write(blocks: readonly Block[]): string {
  return blocks
    .map((block) => {
      if (block.kind === 'pre') return `[pre ${block.text}]`
      const lines = block.lines.map(writeLine).join('|')
      if (block.kind === 'text') return lines
      return block.kind === 'ordered' ? `[${block.start}. ${lines}]` : `[${block.kind} ${lines}]`
    })
    .join('/')
}

const cases: readonly (readonly [string, string])[] = [
  ['', ''],
  ['plain', 'plain'],
  ['*bold* and _italic_ and ~gone~', '<b>bold</b> and <i>italic</i> and <s>gone</s>'],
  ['*bold _both_*', '<b>bold <i>both</i></b>'],
  ['*_~all~_*', '<b><i><s>all</s></i></b>'],
  ['(*bold*), "_it_".', '(<b>bold</b>), "<i>it</i>".'],
  // Markers within words, beside blanks or without an end are letters.
  ['2*3*4 snake_case_name a ~ b', '2*3*4 snake_case_name a ~ b'],
  ['* not bold*', '[list not bold*]'],
  ['a * b * c', 'a * b * c'],
  ['*open', '*open'],
  ['*open _closed_', '*open <i>closed</i>'],
  ['*a _b* c_', '<b>a _b</b> c_'],
  ['**', '**'],
  ['***', '***'],
  ['** a **', '** a **'],
  ['*first\nsecond*', '*first|second*'],
  ['`*code*` *bold*', '<code>*code*</code> <b>bold</b>'],
  ['`open', '`open'],
  ['``', '``'],
  ['```let x = *1*\nlet y```', '[pre let x = *1*\nlet y]'],
  ['before\n```\ncode\n```\nafter', 'before/[pre code]/after'],
  ['```open *bold*', '```open <b>bold</b>'],
  ['``````', '``````'],
  ['> quoted *so*\nafter', '[quote quoted <b>so</b>]/after'],
  ['- one\n* two\nthree', '[list one|two]/three'],
  ['1. one\n2. two\n4. four', '[1. one|two]/[4. four]'],
  ['see https://a.example/b_c_d*, then', 'see <a>https://a.example/b_c_d</a>*, then'],
  ['*https://a.example/*', '<b><a>https://a.example/</a></b>'],
  ['(https://a.example)', '(<a>https://a.example</a>)'],
  ['javascript:alert(1) xhttps://a', 'javascript:alert(1) xhttps://a'],
  ['<b>not html</b> *<i>*', '<b>not html</b> <b><i></b>'],
  ['*مرحبا* بك', '<b>مرحبا</b> بك'],
  ['*👍*', '<b>👍</b>'],
]

for (const [body, wanted] of cases) {
  test(`${JSON.stringify(body)} is read as ${wanted}`, () => assert.equal(write(parseMarkup(body)), wanted))
}

test('what is read holds every letter of the text that is no marker', () => {
  for (const [body] of cases) {
    const letters = (text: string) => text.replaceAll(/[*_~`>\-\s]|\d\. /g, '')
    assert.equal(letters(toPlain(body)), letters(body), body)
  }
})

test('a line for the list of chats has neither markup nor line breaks', () => {
  assert.equal(toPlain('*Hello* _you_\n> so\n- item\n```code```'), 'Hello you so item code')
})

test('hostile nesting of the longest text is read in a number of steps that grows with its length alone', () => {
  for (const unit of ['*_~', '*a _b ~c ', '`', '*`', '```', '> * ', 'https://', '*https://a.example_', '_*a*_ ']) {
    const pieces = countPieces(unit.repeat(Math.ceil(4096 / unit.length)).slice(0, 4096))
    assert.ok(pieces <= 4096, `${unit}: ${pieces} pieces`)
  }
})

function countPieces(body: string): number {
  const count = (line: readonly Inline[]): number =>
    line.reduce((sum, piece) => sum + 1 + ('children' in piece ? count(piece.children) : 0), 0)
  return parseMarkup(body).reduce(
    (sum, block) => sum + (block.kind === 'pre' ? 1 : block.lines.flatMap(count).reduce((a, b) => a + b, 0)),
    0,
  )
}

test('a few emoji alone are written large', () => {
  for (const body of ['👍', '👨‍👩‍👧', '🇩🇪🇫🇷', '❤️ 🙏 😂']) assert.ok(isJumbo(body), body)
  for (const body of ['', 'a', '1', '👍👍👍👍', '👍 ok', '#']) assert.ok(!isJumbo(body), body)
})
