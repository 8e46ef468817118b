import { isUtf8 } from 'node:buffer'

/** Bytes that no text has: control characters except tab, line feed, form feed, carriage return and escape. */
const binaryBytes = new Set([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31,
])
const isBinary = Array.from({ length: 256 }, (_, byte) => binaryBytes.has(byte))

/** Checks a text chunk by chunk. */
export interface TextCheck {
  /** Whether the bytes so far may be text. */
  take(chunk: Buffer): boolean
  /** Whether it was text to its last character. */
  end(): boolean
}

/**
 * A text is UTF-8, or UTF-16 with a byte order mark, without characters that no text has. National encodings cannot be distinguished
 * from binary data.
 */
export function startTextCheck(start: Buffer): TextCheck {
  if (start[0] === 0xff && start[1] === 0xfe) return checkUtf16('utf-16le')
  if (start[0] === 0xfe && start[1] === 0xff) return checkUtf16('utf-16be')
  return checkUtf8()
}

/** Whether a file that begins like this may be a text. */
export function startsAsText(start: Buffer): boolean {
  return startTextCheck(start).take(start)
}

function checkUtf8(): TextCheck {
  let begun = Buffer.alloc(0)
  return {
    take(chunk) {
      for (let index = 0; index < chunk.length; index++) {
        if (isBinary[chunk[index] as number]) return false
      }
      const bytes = begun.length === 0 ? chunk : Buffer.concat([begun, chunk])
      const whole = bytes.length - countBegun(bytes)
      // A copy, because a slice of the chunk would keep all of it alive.
      begun = Buffer.from(bytes.subarray(whole))
      return isUtf8(bytes.subarray(0, whole))
    },
    end: () => begun.length === 0,
  }
}

/** How many bytes at the end belong to an incomplete character. */
function countBegun(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0
  }
  return 0
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const binaryCharacters = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/

function checkUtf16(encoding: 'utf-16le' | 'utf-16be'): TextCheck {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const decodes = (chunk?: Buffer) => {
    try {
      return !binaryCharacters.test(decoder.decode(chunk, { stream: chunk !== undefined }))
    } catch {
      return false
    }
  }
  return { take: decodes, end: () => decodes() }
}
