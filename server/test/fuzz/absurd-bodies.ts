import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Draw } from './draw.ts'
import { makeMultipartBytes } from './multipart-bytes.ts'

export interface AbsurdBody {
  readonly contentType: string | undefined
  readonly bytes: Buffer
  readonly headers?: readonly (readonly [string, string])[]
}

const contentTypes = [
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  `multipart/form-data; boundary=${'b'.repeat(300)}`,
  'multipart/mixed; boundary=x',
  'text/plain',
  'application/xml',
  'application/json; charset=utf-16',
  'application/json;;;=',
  'application/octet-stream',
  'json',
  'a/b/c',
  '/',
  ';',
  'APPLICATION/JSON',
]

const jsonTexts = [
  '',
  'null',
  '[]',
  '"text"',
  '1',
  'NaN',
  '{',
  '{"a":1,}',
  '{"a":1}{"b":2}',
  '\ufeff{"name":"bom"}',
  ' '.repeat(10_000),
  '{"name":"\\ud800"}',
  '{"name":"\\u0000","status":"\\udfff"}',
  '{"name":1e999,"limit":-1e999}',
  `{"limit":${'9'.repeat(2000)}}`,
  '{"limit":9007199254740993,"timestamp":-0,"file_length":1e21}',
  '{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}}',
  `{"${'n'.repeat(20_000)}":1}`,
]

const makers: readonly ((draw: Draw) => AbsurdBody)[] = [
  (draw) => ({ contentType: draw.pick(contentTypes), bytes: Buffer.from(draw.from(randomBytes)) }),
  (draw) => ({ contentType: draw.pick(contentTypes), bytes: Buffer.from(draw.pick(jsonTexts)) }),
  (draw) => ({ contentType: 'application/json', bytes: Buffer.from(draw.pick(jsonTexts)) }),
  (draw) => ({ contentType: undefined, bytes: Buffer.from(draw.pick(jsonTexts)) }),
  (draw) => ({ contentType: 'application/json', bytes: Buffer.from(nest(draw)) }),
  (draw) => ({
    contentType: 'application/json',
    bytes: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, ...draw.from(randomBytes)]),
  }),
  (draw) => ({ contentType: 'application/x-www-form-urlencoded', bytes: Buffer.from(makeForm(draw)) }),
  () => ({
    contentType: 'application/json',
    bytes: gzipSync('{"name":"packed"}'),
    headers: [['Content-Encoding', 'gzip']],
  }),
]

const randomBytes = fc.uint8Array({ maxLength: 400, size: 'max' })

/** A body that no client would send on purpose. */
export function makeAbsurdBody(draw: Draw): AbsurdBody {
  // Beyond every limit, but seldom: it takes its time.
  if (draw.index(200) === 0) return { contentType: draw.pick(contentTypes), bytes: Buffer.alloc(4 << 20, 0x20) }
  return draw.chance(30) ? makeMultipartBytes(draw) : draw.pick(makers)(draw)
}

const members = ['name', 'fields', 'session', 'entry', 'to', 'status', 'commands', 'file']

function nest(draw: Draw): string {
  const depth = draw.pick([50, 1000, 20_000, 200_000])
  const name = draw.pick(members)
  const [open, close] = draw.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const)
  return `{"${name}":${open.repeat(depth)}1${draw.chance(80) ? close.repeat(depth) : ''}}`
}

function makeForm(draw: Draw): string {
  return draw.pick([
    '%',
    'a=%zz&b=%ff',
    '&&&===&',
    'name=%ED%A0%80',
    'name=%00',
    'name[]=1&name[0]=2&name[a][b]=3',
    '__proto__=1&__proto__[x]=2&constructor=3',
    `${draw.pick(members)}=${'%5B'.repeat(5000)}`,
    'a=1&'.repeat(3000),
    `limit=${'1'.repeat(400)}`,
  ])
}
