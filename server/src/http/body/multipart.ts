import { ChunkBuffer } from '../../base/work/chunk-buffer.ts'
import {
  delimiterGoesOn,
  headEndsInLineFeed,
  multipartEndsEarly,
  partHeadTooLong,
  partNotInCharset,
  tooManyParts,
  tooMuchBesidesFile,
  tooMuchFraming,
} from '../errors.ts'
import type { BodyHold } from './body-budget.ts'
import { type PartHead, readPartHead } from './part-head.ts'

const maxParts = 1000
/** The same limit as for the head of a whole request. */
const maxHeadBytes = 16_384
/** For heads of parts, the preamble and the epilogue. */
const maxFramingBytes = 1_048_576
const carriageReturn = 0x0d
const lineFeed = 0x0a
const dash = 0x2d

/**
 * Reads a multipart body part by part, on demand, and holds only the current chunk. It has no stream or events of its own: a fault
 * of the body or its source is thrown to the caller, and so is an end of the body before the last delimiter. Every byte is read
 * once.
 */
export class MultipartReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #delimiter: Buffer
  readonly #maxTextBytes: number
  readonly #hold: BodyHold | undefined
  #chunk: Buffer = Buffer.alloc(0)
  /** The read position in the chunk. */
  #at = 0
  /**
   * How many bytes of a delimiter were matched at the end of the previous chunk. A carriage return occurs only as its first byte, so
   * no other delimiter can begin within these. The body begins as if after a line end.
   */
  #matched = 2
  /** Bytes before the first delimiter belong to no part. */
  #isInContent = true
  #parts = 0
  #framingBytes = 0
  #textBytes = 0

  /** `maxTextBytes` limits the total size of all text that is read; `hold` has it, unless the whole body is in memory already. */
  constructor(body: AsyncIterable<Uint8Array>, boundary: string, maxTextBytes: number, hold?: BodyHold) {
    this.#chunks = body[Symbol.asyncIterator]()
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#maxTextBytes = maxTextBytes
    this.#hold = hold
  }

  /** The next part, skipping the rest of the current one; undefined after the last one, when the whole body has arrived. */
  async nextPart(): Promise<PartHead | undefined> {
    await this.#skipContent()
    if (await this.#isLastDelimiter()) {
      do this.#countFraming(this.#chunk.length - this.#at)
      while (await this.#nextChunk())
      return undefined
    }
    if (this.#parts === maxParts) throw tooManyParts({ max: maxParts })
    this.#parts += 1
    const head = readPartHead(await this.#readHead())
    this.#isInContent = true
    return head
  }

  /** The content of the part as it arrives. Each chunk is valid until the next is asked for. */
  async *readContent(): AsyncGenerator<Uint8Array> {
    for (let piece = await this.#nextPiece(); piece; piece = await this.#nextPiece()) yield piece
  }

  /** The content of the part as text. */
  async readText({ name, charset }: PartHead): Promise<string> {
    const buffer = new ChunkBuffer()
    for (let piece = await this.#nextPiece(); piece; piece = await this.#nextPiece()) {
      this.#textBytes += piece.length
      if (this.#textBytes > this.#maxTextBytes) throw tooMuchBesidesFile({ max: this.#maxTextBytes })
      this.#hold?.take(piece.length)
      buffer.append(Buffer.from(piece))
    }
    return decodeText(buffer.take(), charset, name)
  }

  async #skipContent(): Promise<void> {
    for (let piece = await this.#nextPiece(); piece; piece = await this.#nextPiece()) this.#countFraming(piece.length)
  }

  /** The next bytes before a delimiter; undefined after the delimiter. */
  async #nextPiece(): Promise<Uint8Array | undefined> {
    while (this.#isInContent) {
      if (this.#at === this.#chunk.length && !(await this.#nextChunk())) throw multipartEndsEarly()
      const piece = this.#matched > 0 ? this.#continueDelimiter() : this.#findDelimiter()
      if (piece.length > 0) return piece
    }
    return undefined
  }

  /** Continues a possible delimiter; bytes that turn out not to be one are content. */
  #continueDelimiter(): Uint8Array {
    const delimiter = this.#delimiter
    while (this.#at < this.#chunk.length && this.#chunk[this.#at] === delimiter[this.#matched]) {
      this.#at += 1
      this.#matched += 1
      if (this.#matched === delimiter.length) return this.#endContent(0, 0)
    }
    if (this.#at === this.#chunk.length) return noBytes
    const piece = delimiter.subarray(0, this.#matched)
    this.#matched = 0
    return piece
  }

  #findDelimiter(): Uint8Array {
    const start = this.#at
    const found = this.#chunk.indexOf(this.#delimiter, start)
    if (found >= 0) {
      this.#at = found + this.#delimiter.length
      return this.#endContent(start, found)
    }
    this.#at = this.#chunk.length
    const tail = this.#chunk.subarray(Math.max(start, this.#at - this.#delimiter.length + 1))
    const last = tail.lastIndexOf(carriageReturn)
    this.#matched = last >= 0 && this.#delimiter.indexOf(tail.subarray(last)) === 0 ? tail.length - last : 0
    return this.#chunk.subarray(start, this.#at - this.#matched)
  }

  #endContent(start: number, end: number): Uint8Array {
    this.#matched = 0
    this.#isInContent = false
    return this.#chunk.subarray(start, end)
  }

  /** The last delimiter is followed by two dashes; the epilogue is ignored. */
  async #isLastDelimiter(): Promise<boolean> {
    if ((await this.#peek()) !== dash) return false
    this.#at += 1
    if ((await this.#peek()) !== dash) throw delimiterGoesOn()
    return true
  }

  /** The lines between a delimiter and the empty line. */
  async #readHead(): Promise<string[]> {
    if ((await this.#readLine(maxHeadBytes)).trim() !== '') throw delimiterGoesOn()
    const lines: string[] = []
    let left = maxHeadBytes
    for (;;) {
      const line = await this.#readLine(left)
      if (line === '') return lines
      lines.push(line)
      left -= line.length + 2
    }
  }

  /** A line without its end. */
  async #readLine(maxLength: number): Promise<string> {
    await this.#peek()
    let piece = this.#takeLine()
    const begun: Buffer[] = []
    for (let length = piece.length; length <= maxLength && piece.at(-1) !== lineFeed; length += piece.length) {
      // A copy, because the chunk is valid only until the next one.
      begun.push(Buffer.from(piece))
      await this.#peek()
      piece = this.#takeLine()
    }
    const line = begun.length === 0 ? piece : Buffer.concat([...begun, piece])
    if (line.length > maxLength) throw partHeadTooLong({ max: maxHeadBytes })
    if (line.at(-2) !== carriageReturn) throw headEndsInLineFeed()
    return line.toString('utf8', 0, line.length - 2)
  }

  /** The part of a line in the chunk, with its end. */
  #takeLine(): Buffer {
    const end = this.#chunk.indexOf(lineFeed, this.#at)
    const taken = this.#chunk.subarray(this.#at, end < 0 ? this.#chunk.length : end + 1)
    this.#at += taken.length
    this.#countFraming(taken.length)
    return taken
  }

  /** The next byte, without consuming it. */
  async #peek(): Promise<number> {
    if (this.#at === this.#chunk.length && !(await this.#nextChunk())) throw multipartEndsEarly()
    return this.#chunk[this.#at] as number
  }

  /** Whether there was another chunk; none is empty. */
  async #nextChunk(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#chunks.next()
      if (done) return false
      this.#chunk = Buffer.from(value.buffer, value.byteOffset, value.length)
      this.#at = 0
      if (this.#chunk.length > 0) return true
    }
  }

  #countFraming(bytes: number): void {
    this.#framingBytes += bytes
    if (this.#framingBytes > maxFramingBytes) throw tooMuchFraming({ max: maxFramingBytes })
  }
}

const noBytes = new Uint8Array(0)
const strictly = { fatal: true, ignoreBOM: true }
const utf8 = new TextDecoder('utf-8', strictly)

/** A repeated member is a list. */
export function collectMember(values: Record<string, unknown>, name: string, value: string): void {
  const known = values[name]
  if (Array.isArray(known)) known.push(value)
  else values[name] = known === undefined ? value : [known, value]
}

function decodeText(bytes: Buffer, charset: string, name: string): string {
  try {
    return (charset === 'utf-8' ? utf8 : new TextDecoder(charset, strictly)).decode(bytes)
  } catch {
    throw partNotInCharset({
      part: JSON.stringify(name.slice(0, 100)),
      charset: JSON.stringify(charset.slice(0, 40)),
    })
  }
}
