import { badEscape, tooManyFields } from '../errors.ts'

/** The same limit as for a multipart body. */
export const maxFields = 1000
const ampersand = 0x26
const equals = 0x3d
const plus = 0x2b
const blank = 0x20
const percent = 0x25
const byteOrderMark = Buffer.from('\ufeff')
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses the arguments of a form. It works on bytes, because string functions take fifty times as long when every character is
 * an escape or a plus.
 */
export function parseFormBody(bytes: Buffer): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null)
  let count = 0
  for (let start = bytes.indexOf(byteOrderMark) === 0 ? byteOrderMark.length : 0; start <= bytes.length; ) {
    const found = bytes.indexOf(ampersand, start)
    const end = found < 0 ? bytes.length : found
    // Empty fields count too: finding the next one takes as long.
    if (++count > maxFields) throw tooManyFields({ max: maxFields })
    if (end > start) addField(values, bytes.subarray(start, end))
    start = end + 1
  }
  return values
}

/** A repeated field is a list. */
function addField(values: Record<string, unknown>, field: Buffer): void {
  const found = field.indexOf(equals)
  const middle = found < 0 ? field.length : found
  const name = decodeField(field.subarray(0, middle))
  const value = decodeField(field.subarray(middle + 1))
  const known = values[name]
  if (known === undefined) values[name] = value
  else if (Array.isArray(known)) known.push(value)
  else values[name] = [known, value]
}

export function decodeField(field: Buffer): string {
  try {
    return utf8.decode(decodeEscapes(field))
  } catch (error) {
    if (error instanceof TypeError) throw badEscape({ where: 'body' })
    throw error
  }
}

/** Decodes a part of a form; it must not end inside an escape. */
export function decodeEscapes(field: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(field.length)
  let length = 0
  for (let at = 0; at < field.length; at++) {
    let byte = field[at] as number
    if (byte === plus) byte = blank
    else if (byte === percent) {
      byte = readHex(field[at + 1]) * 16 + readHex(field[at + 2])
      at += 2
    }
    bytes[length++] = byte
  }
  return bytes.subarray(0, length)
}

/** The value of a hexadecimal digit. */
function readHex(byte: number | undefined): number {
  if (byte === undefined) throw badEscape({ where: 'body' })
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  if (letter >= 0x61 && letter <= 0x66) return letter - 0x57
  throw badEscape({ where: 'body' })
}
