import { badArgument } from '../../graph/define-error.ts'
import type { Arguments } from '../../graph/input/input.ts'
import { findTextEnd, requestBounds } from '../../graph/input/json-bounds.ts'
import { bodyNotJson, bodyNotUtf8, moreThanOneFile } from '../errors.ts'
import { checkJsonBounds, parseJson } from './body.ts'
import { type FileSplitter, RestOfBody, type SplitterDeps } from './file-splitter.ts'

const structure = /["[\]{},:]/g
/** No searched name is longer, even fully escaped. */
const maxNameCharacters = 200

/**
 * Extracts the text of one member from a JSON body as it arrives. The rest of the body, with an empty text instead, is kept and
 * parsed at the end: any other fault in the body is found then.
 */
export class JsonFileSplitter implements FileSplitter {
  hasFile = false
  readonly #deps: SplitterDeps
  readonly #rest: RestOfBody<string>
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true })
  #state: 'outside' | 'name' | 'text' | 'file' = 'outside'
  /** The beginning of an escape that is not complete yet. */
  #waiting = ''
  #depth = 0
  #isNameNext = false
  #isFileNext = false
  /** The last name at the first level, as written, up to the length needed to recognize it. */
  #name = ''

  constructor(deps: SplitterDeps) {
    this.#deps = deps
    this.#rest = new RestOfBody(deps)
  }

  take(chunk: Buffer): void {
    this.#read(this.#decode(chunk))
  }

  end(): Arguments {
    this.#read(this.#decode(undefined))
    // The body ended inside a text: the parser of the rest reports what is wrong.
    this.#rest.keep(this.#waiting)
    const text = this.#rest.pieces.join('')
    checkJsonBounds(text, requestBounds)
    const values = parseJson(text)
    return { typed: true, values: this.hasFile ? { ...values, [this.#deps.member]: '' } : values }
  }

  #decode(chunk: Buffer | undefined): string {
    try {
      return this.#utf8.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw bodyNotUtf8()
    }
  }

  #read(arrived: string): void {
    const text = this.#waiting + arrived
    this.#waiting = ''
    for (let at = 0; at < text.length; ) {
      at = this.#state === 'outside' ? this.#readOutside(text, at) : this.#readText(text, at)
    }
  }

  #readOutside(text: string, from: number): number {
    structure.lastIndex = from
    const end = structure.test(text) ? structure.lastIndex : text.length
    this.#rest.keep(text.slice(from, end))
    switch (text[end - 1]) {
      case '"':
        this.#beginText()
        break
      case '{':
        this.#depth++
        this.#isNameNext = this.#depth === 1
        this.#isFileNext = false
        break
      case '[':
        this.#depth++
        this.#isFileNext = false
        break
      case '}':
      case ']':
        this.#depth--
        break
      case ',':
        this.#isNameNext = this.#depth === 1
        this.#isFileNext = false
        break
      case ':':
        this.#isFileNext = this.#depth === 1 && readText(this.#name) === this.#deps.member
    }
    return end
  }

  #beginText(): void {
    if (this.#isNameNext) {
      this.#state = 'name'
      this.#name = ''
    } else if (this.#isFileNext) {
      if (this.hasFile) throw badArgument(moreThanOneFile(this.#deps.member))
      this.#state = 'file'
      this.hasFile = true
    } else this.#state = 'text'
    this.#isNameNext = false
    this.#isFileNext = false
  }

  /** Consumes a text as far as it has arrived, up to its closing quote. */
  #readText(text: string, from: number): number {
    const quote = findTextEnd(text, from)
    const isWhole = quote < text.length
    const end = isWhole ? quote : findWholeEnd(text, from)
    const piece = text.slice(from, end)
    if (this.#state === 'file') this.#handOn(piece)
    else {
      this.#rest.keep(piece)
      if (this.#state === 'name' && this.#name.length <= maxNameCharacters) this.#name += piece
    }
    if (isWhole) {
      this.#rest.keep('"')
      this.#state = 'outside'
      return end + 1
    }
    this.#waiting = text.slice(end)
    return text.length
  }

  #handOn(piece: string): void {
    const decoded = readText(piece)
    if (decoded === undefined) {
      throw bodyNotJson({ reason: `the text of ${this.#deps.member} holds a control character or a bad escape` })
    }
    if (decoded !== '') this.#deps.onText(decoded)
  }
}

/** Decodes the characters between two JSON quotes; undefined when they are invalid. */
function readText(raw: string): string | undefined {
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    return undefined
  }
}

/** Where the last escape begins, if it is incomplete. */
function findWholeEnd(text: string, from: number): number {
  const last = text.lastIndexOf('\\')
  if (last < from || text.length - last >= 6) return text.length
  let first = last
  while (first > from && text[first - 1] === '\\') first--
  const isSecondOfTwo = (last - first) % 2 === 1
  const length = text[last + 1] === 'u' ? 6 : 2
  return isSecondOfTwo || text.length - last >= length ? text.length : last
}
