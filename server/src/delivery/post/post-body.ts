import { YieldingTask } from '../../base/work/yielding-task.ts'

/** Without the flag `u` a pattern matches UTF-16 units, and each escape encodes one unit. */
const beyondAscii = /[\u0080-\uffff]/
const hexDigits = Buffer.from('0123456789abcdef')
const maxEscapeBytes = 6
/** How much of a long text is written before the event loop runs other work. */
const pieceCharacters = 65_536

/**
 * Writes an event, which is JSON text, as the bytes that are signed and sent. The output is ASCII: every other character becomes
 * `\uXXXX` in lower case, two of them beyond the basic plane, so that no re-encoding on the way can break the signature. A long
 * text is written in several turns of the event loop.
 */
export function writeAscii(json: string): Buffer | Promise<Buffer> {
  if (!beyondAscii.test(json)) return Buffer.from(json, 'latin1')
  return json.length <= pieceCharacters ? escapePiece(json) : escapeInTurns(json)
}

async function escapeInTurns(json: string): Promise<Buffer> {
  const task = new YieldingTask()
  const pieces: Buffer[] = []
  for (let at = 0; at < json.length; at += pieceCharacters) {
    pieces.push(escapePiece(json.slice(at, at + pieceCharacters)))
    await task.yieldIfDue()
  }
  return Buffer.concat(pieces)
}

function escapePiece(json: string): Buffer {
  const bytes = Buffer.allocUnsafe(json.length * maxEscapeBytes)
  let length = 0
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at)
    if (unit < 0x80) bytes[length++] = unit
    else {
      bytes[length++] = 0x5c
      bytes[length++] = 0x75
      for (let shift = 12; shift >= 0; shift -= 4) bytes[length++] = hexDigits[(unit >> shift) & 0xf] as number
    }
  }
  // A copy of the exact size: the buffer may be five times as large.
  return Buffer.from(bytes.subarray(0, length))
}
