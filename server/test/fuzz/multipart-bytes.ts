import { jpeg, pdf, png } from '../harness/media-files.ts'
import type { Draw } from './draw.ts'
import type { EncodedBody } from './encode.ts'

const boundaries = [
  'x',
  'b'.repeat(70),
  '----WebKitFormBoundary7MA4YWxkTrZu0gW',
  '-',
  '--',
  'a b',
  "'()+_,-./:=?",
  'x'.repeat(71),
]
const names = [
  'file',
  'file',
  'name',
  'messaging_product',
  'code',
  'business_public_key',
  '__proto__',
  '',
  'é',
  'a"b',
  'toString',
]

/** The delimiter as bytes, with what stands around it. */
interface Lines {
  readonly boundary: string
  readonly delimiter: string
}

/** Pieces that a body is put together from; most of them are not what they should be. */
const pieces: readonly ((draw: Draw, lines: Lines) => Buffer)[] = [
  (draw, lines) => part(lines, `form-data; name="${draw.pick(names)}"`, value(draw)),
  (draw, lines) => part(lines, `form-data; name="${draw.pick(names)}"`, value(draw)),
  (draw, lines) => part(lines, 'form-data; name="file"; filename="a.png"', draw.pick([png, jpeg, pdf])),
  (_draw, lines) => part(lines, 'form-data; name="messaging_product"', Buffer.from('msgapp')),
  (draw, { delimiter }) => Buffer.from(`${delimiter}\r\n`.repeat(draw.pick([1, 2, 1001, 1100, 5000]))),
  (draw, { delimiter }) => Buffer.from(`${delimiter}\r\n\r\n\r\n`.repeat(draw.pick([1, 2, 1001, 1100]))),
  (draw, lines) => Buffer.concat(Array(draw.pick([999, 1000, 1001])).fill(part(lines, 'form-data; name="a"', ''))),
  (draw, { delimiter }) => Buffer.from(`${delimiter}\r\n${draw.pick(brokenHeads)}`),
  (draw, { delimiter }) => Buffer.from(`${delimiter}\r\n${draw.pick(brokenHeads)}\r\n\r\nvalue\r\n`),
  (draw, { delimiter }) =>
    Buffer.from(`${delimiter}${draw.pick([' ', '\t \t', '-', 'y', '\n', '\r', '--x', '\0'])}\r\n`),
  (_draw, { delimiter }) => Buffer.from(`${delimiter}\nContent-Disposition: form-data; name="a"\n\nvalue\n`),
  (draw, { delimiter }) => Buffer.from(`\r\n${delimiter.slice(0, -1)}`.repeat(draw.pick([1, 3, 2000]))),
  (draw, { delimiter }) => Buffer.from(delimiter.slice(0, draw.integer(0, delimiter.length))),
  (_draw, { delimiter }) => Buffer.from(`${delimiter}--\r\n`),
  (draw, lines) => part(lines, 'form-data; name="a"\r\nContent-Type: multipart/mixed; boundary=y', nested(draw, lines)),
  (draw) =>
    Buffer.from(draw.pick(['\r', '\n', '\r\n', '\r\r\n\n', '-', '--', '\0', 'text']).repeat(draw.pick([1, 3, 5000]))),
]

const brokenHeads = [
  'abc',
  ': no name',
  'Content-Disposition',
  'Content-Disposition: form-data',
  'Content-Disposition: form-data;',
  'Content-Disposition: form-data; name',
  'Content-Disposition: form-data; name="a',
  'Content-Disposition: form-data; name="a\\',
  `Content-Disposition: form-data; name="${'\\"'.repeat(5000)}"`,
  `Content-Disposition: form-data; name="${'n'.repeat(20_000)}"`,
  `Content-Disposition: form-data${'; a=b'.repeat(3000)}; name=a`,
  'Content-Disposition: attachment; name="a"',
  "Content-Disposition: form-data; name*=utf-8''%ff%00",
  'Content-Disposition: form-data;\r\n name="a"',
  '\tContent-Disposition: form-data; name="a"',
  'Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="b"',
  'Content-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=utf-16',
  'Content-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=klingon',
  'Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\nContent-Length: -1',
  `${'A: b\r\n'.repeat(3000)}Content-Disposition: form-data; name="a"`,
  `A: ${'b'.repeat(20_000)}\r\nContent-Disposition: form-data; name="a"`,
  'A: \u0000\r\nContent-Disposition: form-data; name="\u0000"',
  'Content-Disposition: form-data; name="file"; filename="../../etc/passwd"\r\nContent-Type: image/png',
]

function part({ delimiter }: Lines, disposition: string, content: Buffer | string): Buffer {
  const head = Buffer.from(`${delimiter}\r\nContent-Disposition: ${disposition}\r\n\r\n`)
  return Buffer.concat([head, Buffer.from(content as string), Buffer.from('\r\n')])
}

function value(draw: Draw): Buffer {
  return draw.pick([
    Buffer.from(''),
    Buffer.from('value'),
    Buffer.from('🌱'),
    Buffer.from([0xff, 0xfe, 0x00]),
    Buffer.from('{"a":'),
    Buffer.from('a\r\nb\r\n'),
    Buffer.alloc(30_000, 'v'),
  ])
}

function nested(draw: Draw, { delimiter }: Lines): string {
  const inner = draw.chance(50) ? '--y' : delimiter
  return `${inner}\r\nContent-Disposition: form-data; name="b"\r\n\r\ninner\r\n${inner}--\r\n`
}

/** A multipart body at the level of bytes: delimiters, heads and ends in any order and number, then perhaps damaged. */
export function makeMultipartBytes(draw: Draw): EncodedBody {
  const boundary = draw.pick(boundaries)
  const lines = { boundary, delimiter: `--${boundary}` }
  const count = draw.index(7)
  const made = Array.from({ length: count }, () => draw.pick(pieces)(draw, lines))
  const end = draw.chance(60)
    ? Buffer.from(`--${boundary}--\r\n`)
    : Buffer.from(draw.pick(['', `--${boundary}`, `--${boundary}-`, '\r\n']))
  const bytes = Buffer.concat([...made, end])
  return { contentType: writeType(draw, boundary), bytes: draw.chance(35) ? damage(draw, bytes) : bytes }
}

function writeType(draw: Draw, boundary: string): string {
  if (draw.chance(85)) return `multipart/form-data; boundary="${boundary}"`
  return draw.pick([
    `multipart/form-data; boundary=${boundary}`,
    `multipart/form-data; boundary="${boundary}`,
    `multipart/form-data; boundary=other`,
    `multipart/form-data; charset=x; Boundary = "${boundary}" ; boundary=other`,
    'multipart/form-data; boundary=""',
    'multipart/form-data',
    'multipart/form-data; boundary=\u00e9',
  ])
}

/** Cut off, with some bytes changed, with a piece twice, or with one missing. */
function damage(draw: Draw, bytes: Buffer): Buffer {
  const start = draw.index(bytes.length + 1)
  const end = Math.min(bytes.length, start + draw.integer(0, 100))
  const [before, piece, behind] = [bytes.subarray(0, start), bytes.subarray(start, end), bytes.subarray(end)]
  switch (draw.index(4)) {
    case 0:
      return before
    case 1:
      return Buffer.concat([
        before,
        Buffer.alloc(piece.length, draw.pick(['\r', '\n', '-', '\0', '"', ';', '\u00ff'])),
        behind,
      ])
    case 2:
      return Buffer.concat([before, piece, piece, behind])
    default:
      return Buffer.concat([before, behind])
  }
}
