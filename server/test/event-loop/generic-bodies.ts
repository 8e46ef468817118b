import type { TObject } from 'typebox'

/** A body that is bad whatever it is sent to. */
export interface GenericBody {
  readonly name: string
  readonly type: string
  /** As large as it may be, but for a few bytes. */
  readonly make: (bytes: number) => Buffer
}

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'
const boundary = 'b'

const bodies: readonly GenericBody[] = [
  { name: 'a wide object', type: json, make: (bytes) => Buffer.from(wideObject(bytes)) },
  { name: 'an object with numbers as names', type: json, make: (bytes) => Buffer.from(numberedObject(bytes)) },
  { name: 'many numbers', type: json, make: (bytes) => repeat('{"x":[0', ',0', ']}', bytes) },
  { name: 'many empty arrays', type: json, make: (bytes) => repeat('{"x":[[]', ',[]', ']}', bytes) },
  { name: 'many objects', type: json, make: (bytes) => repeat('{"x":[{"a":0}', ',{"a":0}', ']}', bytes) },
  { name: 'deep arrays', type: json, make: (bytes) => nest('[', ']', bytes) },
  { name: 'deep objects', type: json, make: (bytes) => nest('{"a":', '}', bytes) },
  { name: 'a text of escapes', type: json, make: (bytes) => repeat('{"x":"', '\\u00e9', '"}', bytes) },
  { name: 'a text of backslashes', type: json, make: (bytes) => repeat('{"x":"', '\\\\', '"}', bytes) },
  { name: 'JSON that breaks off', type: json, make: (bytes) => repeat('{"x":[', '"y",', '', bytes) },
  { name: 'blanks', type: json, make: (bytes) => repeat('', ' \n', '', bytes) },
  { name: 'bytes that are no text', type: json, make: (bytes) => Buffer.alloc(bytes, 0xff) },
  { name: 'a form of many fields', type: form, make: (bytes) => Buffer.from(manyFields(bytes)) },
  { name: 'a form of one field many times', type: form, make: (bytes) => repeat('a=1', '&a=1', '', bytes) },
  { name: 'a form of ampersands', type: form, make: (bytes) => repeat('', '&', '', bytes) },
  { name: 'a form of escapes', type: form, make: (bytes) => repeat('a=', '%41', '', bytes) },
  { name: 'a form of percent signs', type: form, make: (bytes) => repeat('a=', '%', '', bytes) },
  { name: 'a form of pluses', type: form, make: (bytes) => repeat('a=', '+', '', bytes) },
  { name: 'a form that looks like JSON', type: form, make: (bytes) => repeat('', ' ', '{x', bytes) },
  { name: 'many parts', type: `multipart/form-data; boundary=${boundary}`, make: (bytes) => manyParts(bytes, 900) },
  { name: 'one part many times', type: `multipart/form-data; boundary=${boundary}`, make: samePart },
  {
    name: 'almost the end of a part',
    type: `multipart/form-data; boundary=${boundary}`,
    make: (bytes) => repeat(`--${boundary}\r\n${disposition('a')}\r\n\r\n`, '\r\n--', `\r\n--${boundary}--\r\n`, bytes),
  },
  {
    name: 'a long head of a part',
    type: `multipart/form-data; boundary=${boundary}`,
    make: (bytes) => repeat(`--${boundary}\r\n`, 'a:b\r\n', `\r\n\r\n--${boundary}--\r\n`, bytes),
  },
]

/** Many are sent several times: each is made once for each size. */
export const genericBodies: readonly GenericBody[] = bodies.map((body) => {
  const made = new Map<number, Buffer>()
  return {
    ...body,
    make(bytes) {
      const known = made.get(bytes) ?? body.make(bytes)
      made.set(bytes, known)
      return known
    },
  }
})

/** One text again and again between a start and an end. */
export function repeat(start: string, repeated: string, end: string, bytes: number): Buffer {
  const count = Math.floor((bytes - Buffer.byteLength(start) - Buffer.byteLength(end)) / Buffer.byteLength(repeated))
  return Buffer.from(`${start}${repeated.repeat(count)}${end}`)
}

/** As deep as it fits. */
function nest(open: string, close: string, bytes: number): Buffer {
  const count = Math.floor((bytes - 10) / (open.length + close.length))
  return Buffer.from(`{"x":${open.repeat(count)}0${close.repeat(count)}}`)
}

/** Members with names that are all different, as short as they can be. */
function wideObject(bytes: number): string {
  return `{${listNames(bytes - 2, (name) => `"${name}":0`)}}`
}

/** Names that look like the indexes of an array, far apart. */
function numberedObject(bytes: number): string {
  return `{${listNames(bytes - 2, (_, index) => `"${(index * 2_654_435_761) % 4_294_967_295}":0`)}}`
}

function manyFields(bytes: number): string {
  return listNames(bytes, (name) => `${name}=1`, '&')
}

function listNames(bytes: number, write: (name: string, index: number) => string, separator = ','): string {
  const parts: string[] = []
  for (let length = 0, index = 0; ; index++) {
    const part = write(index.toString(36), index)
    length += part.length + separator.length
    if (length > bytes) return parts.join(separator)
    parts.push(part)
  }
}

function disposition(name: string): string {
  return `Content-Disposition: form-data; name="${name}"`
}

function manyParts(bytes: number, count: number): Buffer {
  const room = Math.floor(bytes / count) - 80
  const parts = Array.from(
    { length: count },
    (_, index) => `--${boundary}\r\n${disposition(`m${index}`)}\r\n\r\n${'x'.repeat(room)}\r\n`,
  )
  return Buffer.from(`${parts.join('')}--${boundary}--\r\n`)
}

function samePart(bytes: number): Buffer {
  const part = `--${boundary}\r\n${disposition('a')}\r\n\r\n${'x'.repeat(Math.floor(bytes / 900) - 80)}\r\n`
  return Buffer.from(`${part.repeat(900)}--${boundary}--\r\n`)
}

/** Less than the head of a request may have. */
const queryBytes = 15_000

/** What a query can hold that is bad, for each of its arguments and beside them. */
export function* genericQueries({ properties }: TObject): Generator<{ name: string; query: string }> {
  yield { name: 'a query of many arguments', query: manyFields(queryBytes) }
  yield { name: 'a query of escapes', query: `x=${'%41'.repeat(queryBytes / 3 - 1)}` }
  for (const argument of Object.keys(properties)) {
    const start = `${encodeURIComponent(argument)}=`
    for (const hostile of hostileValues[argument] ?? [',', '@.']) {
      const count = Math.floor((queryBytes - start.length) / hostile.length)
      yield { name: `${argument} of ${JSON.stringify(hostile)}`, query: `${start}${hostile.repeat(count)}` }
    }
  }
}

const hostileValues: Readonly<Record<string, readonly string[]>> = {
  fields: [',', '(a', 'id,', '%20,'],
  filtering: ['[', '{}', '%22'],
}
