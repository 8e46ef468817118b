import type { FileTextDecoder } from '../../graph/operation.ts'
import { dataUrlWithoutComma, fileNotBase64 } from './errors.ts'

/** A data: URL has only a type and a few parameters before the comma. */
const maxHeadCharacters = 1000
const tagPattern = /;\s*base64\s*$/i
const nothing = Buffer.alloc(0)

/**
 * Decodes the text of a file chunk by chunk: a `data:` URL, or base64 (also its URL alphabet, and with line breaks). Chunks may end
 * anywhere, even within an escape.
 */
export function openFileText(): FileTextDecoder {
  let head: string | undefined = ''
  let escapes: PercentDecoder | undefined
  let base64: Base64Decoder | undefined

  function decodeData(text: string): Buffer {
    const bytes = escapes ? escapes.decode(text) : Buffer.from(text)
    return base64 ? base64.decode(bytes) : bytes
  }

  /** Undefined until the start of the data is certain. */
  function readHead(text: string): string | undefined {
    if (!'data:'.startsWith(text.slice(0, 5).toLowerCase())) {
      base64 = new Base64Decoder()
      return text
    }
    const comma = text.indexOf(',')
    if (comma < 0 || comma > maxHeadCharacters) {
      if (text.length > maxHeadCharacters) throw dataUrlWithoutComma()
      return undefined
    }
    escapes = new PercentDecoder()
    if (tagPattern.test(text.slice(0, comma))) base64 = new Base64Decoder()
    return text.slice(comma + 1)
  }

  return {
    decode(piece) {
      if (head === undefined) return decodeData(piece)
      head += piece
      const data = readHead(head)
      if (data === undefined) return nothing
      head = undefined
      return decodeData(data)
    },
    end() {
      if (head?.toLowerCase().startsWith('data:')) throw dataUrlWithoutComma()
      const start = head === undefined ? nothing : new Base64Decoder().decodeWhole(Buffer.from(head))
      const escaped = escapes?.end() ?? nothing
      const rest = base64 ? Buffer.concat([base64.decode(escaped), base64.end()]) : escaped
      return Buffer.concat([start, rest])
    },
  }
}

const percent = 0x25

/** Characters beyond ASCII become their bytes in UTF-8; an invalid escape stays as it is. */
class PercentDecoder {
  /** The beginning of an escape, or half of a character. */
  #waiting = ''

  decode(piece: string): Buffer {
    const text = this.#waiting + piece
    const end = findSafeEnd(text)
    this.#waiting = text.slice(end)
    return decodePercents(Buffer.from(text.slice(0, end)))
  }

  end(): Buffer {
    return decodePercents(Buffer.from(this.#waiting))
  }
}

function findSafeEnd(text: string): number {
  const last = text.lastIndexOf('%')
  if (last >= 0 && last > text.length - 3) return last
  const unit = text.charCodeAt(text.length - 1)
  return unit >= 0xd800 && unit <= 0xdbff ? text.length - 1 : text.length
}

/** In place: the output is never longer. */
function decodePercents(bytes: Buffer): Buffer {
  if (!bytes.includes(percent)) return bytes
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    const value = byte === percent ? readHexPair(bytes[at + 1], bytes[at + 2]) : -1
    bytes[length++] = value < 0 ? byte : value
    if (value >= 0) at += 2
  }
  return bytes.subarray(0, length)
}

const hexValues = Int8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(value) ? -1 : value
})

/** -1 when it is not a pair of hexadecimal digits. */
function readHexPair(first = 0, second = 0): number {
  const high = hexValues[first] as number
  const low = hexValues[second] as number
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

const equals = 0x3d
const isDigit = markBytes('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_')
const isBlank = markBytes(' \t\n\v\f\r')

function markBytes(characters: string): Uint8Array {
  const marks = new Uint8Array(256)
  for (const byte of Buffer.from(characters)) marks[byte] = 1
  return marks
}

/** Accepts white space anywhere, and at the end either the right padding or none. */
class Base64Decoder {
  /** Digits that do not form a group of four yet. */
  #waiting: Buffer = nothing
  #digits = 0
  #padding = 0

  decode(bytes: Buffer): Buffer {
    const digits = Buffer.allocUnsafe(this.#waiting.length + bytes.length)
    let length = this.#waiting.copy(digits)
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number
      if (isDigit[byte]) {
        if (this.#padding > 0) throw fileNotBase64()
        digits[length++] = byte
        this.#digits++
      } else if (byte === equals) {
        if (++this.#padding > 2) throw fileNotBase64()
      } else if (!isBlank[byte]) throw fileNotBase64()
    }
    const whole = length - (length % 4)
    this.#waiting = Buffer.from(digits.subarray(whole, length))
    return Buffer.from(digits.toString('latin1', 0, whole), 'base64')
  }

  end(): Buffer {
    const isWhole = this.#padding > 0 ? (this.#digits + this.#padding) % 4 === 0 : this.#digits % 4 !== 1
    if (!isWhole) throw fileNotBase64()
    return Buffer.from(this.#waiting.toString('latin1'), 'base64')
  }

  decodeWhole(bytes: Buffer): Buffer {
    return Buffer.concat([this.decode(bytes), this.end()])
  }
}
