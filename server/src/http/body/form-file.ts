import { badArgument } from '../../graph/define-error.ts'
import type { Arguments } from '../../graph/input/input.ts'
import { badEscape, moreThanOneFile, tooManyFields } from '../errors.ts'
import { decode, refuseJson } from './body.ts'
import { type FileSplitter, RestOfBody, type SplitterDeps } from './file-splitter.ts'
import { decodeEscapes, decodeField, maxFields, parseFormBody } from './form-body.ts'

const ampersand = 0x26
const equals = 0x3d
const percent = 0x25

/** Extracts the text of one field from a form as it arrives; the other fields are kept and parsed at the end. */
export class FormFileSplitter implements FileSplitter {
  hasFile = false
  readonly #deps: SplitterDeps
  readonly #rest: RestOfBody<Buffer>
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #state: 'name' | 'value' | 'file' = 'name'
  #fields = 0
  /** The part of a name read so far. */
  #name: Buffer = Buffer.alloc(0)
  /** The beginning of an escape that is not complete yet. */
  #waiting: Buffer = Buffer.alloc(0)

  constructor(deps: SplitterDeps) {
    this.#deps = deps
    this.#rest = new RestOfBody(deps)
  }

  take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) at = this.#readField(chunk, at)
  }

  end(): Arguments {
    if (this.#state === 'file') this.#endFile()
    else if (this.#state === 'name') this.#rest.keep(this.#name)
    const bytes = Buffer.concat(this.#rest.pieces)
    refuseJson(decode(bytes))
    const values = parseFormBody(bytes)
    return { typed: false, values: this.hasFile ? { ...values, [this.#deps.member]: '' } : values }
  }

  #readField(chunk: Buffer, from: number): number {
    const found = chunk.indexOf(ampersand, from)
    const end = found < 0 ? chunk.length : found
    const start = this.#state === 'name' ? this.#readName(chunk, from, end) : from
    const value = chunk.subarray(start, end)
    if (this.#state === 'file') this.#handOn(value)
    else if (this.#state === 'value') this.#rest.keep(Buffer.from(value))
    if (found >= 0) this.#endField()
    return end + 1
  }

  /** Returns the start of the value. */
  #readName(chunk: Buffer, from: number, end: number): number {
    const sign = chunk.subarray(from, end).indexOf(equals)
    const nameEnd = sign < 0 ? end : from + sign
    this.#name = Buffer.concat([this.#name, chunk.subarray(from, nameEnd)])
    if (this.#name.length > this.#deps.maxRestBytes) throw this.#deps.tooMuchRest()
    this.#deps.holdRest(nameEnd - from)
    if (sign < 0) return end
    if (decodeField(this.#name) === this.#deps.member) {
      if (this.hasFile) throw badArgument(moreThanOneFile(this.#deps.member))
      this.#state = 'file'
      this.hasFile = true
    } else {
      this.#rest.keep(Buffer.concat([this.#name, Buffer.from('=')]))
      this.#state = 'value'
    }
    this.#name = Buffer.alloc(0)
    return nameEnd + 1
  }

  #endField(): void {
    if (++this.#fields >= maxFields) throw tooManyFields({ max: maxFields })
    if (this.#state === 'file') this.#endFile()
    else if (this.#state === 'name') this.#rest.keep(this.#name)
    this.#rest.keep(Buffer.from('&'))
    this.#name = Buffer.alloc(0)
    this.#state = 'name'
  }

  #handOn(arrived: Buffer): void {
    const bytes = Buffer.concat([this.#waiting, arrived])
    const last = bytes.lastIndexOf(percent)
    const end = last >= 0 && last > bytes.length - 3 ? last : bytes.length
    this.#waiting = bytes.subarray(end)
    this.#decodeText(decodeEscapes(bytes.subarray(0, end)))
  }

  #endFile(): void {
    if (this.#waiting.length > 0) throw badEscape({ where: 'body' })
    this.#decodeText(undefined)
  }

  #decodeText(bytes: Buffer | undefined): void {
    let text: string
    try {
      text = this.#utf8.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw badEscape({ where: 'body' })
    }
    if (text !== '') this.#deps.onText(text)
  }
}
