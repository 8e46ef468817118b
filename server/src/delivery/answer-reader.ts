import { second } from '../base/duration.ts'
import { Gatherer } from '../base/gatherer.ts'
import { EgressError } from './egress-error.ts'
import type { Answer } from './exchange.ts'

/** How much of a response is read. */
export const maxAnswerBytes = 65_536
const maxHeadBytes = 16_384
/** Of the line before a chunk, and of what comes behind the last one. */
const maxLineCharacters = 1024
/** How long an idle connection is kept whose host does not say how long it keeps it. */
const defaultIdleTime = 4 * second
/** It is closed so long before its host closes it, so that no request meets a connection that is being closed. */
const idleMargin = 2 * second
const maxIdleTime = 60 * second

const begin = 'HTTP/1.'
const headEnd = '\r\n\r\n'
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t -~\u0080-\u00ff]*)?$/
const headerName = /^[\w!#$%&'*+.^`|~-]+$/
/** Control characters, among them half ends of lines. */
const forbidden = /[^\t -~\u0080-\u00ff]/
const lengthText = /^\d{1,15}$/
const chunkLine = /^([\da-f]{1,8})[ \t]*(?:;.*)?$/i
const idleHint = /(?:^|[\s,])timeout=(\d{1,5})/

type Part = 'head' | 'sized' | 'rest' | 'chunk line' | 'chunk' | 'chunk end' | 'trailer' | 'done'

/**
 * Reads one response of HTTP/1.1 (RFC 9112) as its bytes arrive. What is not exactly as it should be is refused: nothing is guessed
 * about where a response ends, because the next one on the connection begins there.
 */
export class AnswerReader {
  #part: Part = 'head'
  readonly #body = new Gatherer()
  #head: Buffer | undefined
  #line = ''
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0
  #status = 0
  #headers: Answer['headers'] = {}
  /** Milliseconds for which the connection may be used again; 0: it may not. */
  idleTime = 0

  /** 0 until it is known. */
  get status(): number {
    return this.#status
  }

  get isDone(): boolean {
    return this.#part === 'done'
  }

  /** Whether the end of the connection is the end of the body. */
  get endsWithConnection(): boolean {
    return this.#part === 'rest'
  }

  get isTooLong(): boolean {
    return this.#body.length > maxAnswerBytes
  }

  /** What came, up to the limit. */
  takeAnswer(failure: EgressError | undefined): Answer {
    const cut = this.isTooLong
    const body = this.#body.take()
    return {
      status: this.#status,
      headers: this.#headers,
      body: cut ? body.subarray(0, maxAnswerBytes) : body,
      cut,
      failure,
    }
  }

  take(bytes: Buffer): void {
    let rest: Buffer | undefined = bytes
    while (rest !== undefined && rest.length > 0) {
      if (this.#part === 'done') {
        // Nobody asked for what comes behind it.
        this.idleTime = 0
        return
      }
      rest = this.#part === 'head' ? this.#takeHead(rest) : this.#takeBody(rest)
      if (this.isTooLong) return
    }
  }

  #takeHead(bytes: Buffer): Buffer | undefined {
    const all = this.#head ? Buffer.concat([this.#head, bytes]) : bytes
    const end = all.indexOf(headEnd, 0, 'latin1')
    if (end > maxHeadBytes || (end === -1 && all.length > maxHeadBytes)) throw badAnswer()
    if (!begin.startsWith(all.toString('latin1', 0, Math.min(all.length, begin.length)))) throw badAnswer()
    if (end === -1) {
      this.#head = all
      return undefined
    }
    this.#head = undefined
    this.#readHead(all.toString('latin1', 0, end))
    const behind = end + headEnd.length
    return behind === all.length ? undefined : all.subarray(behind)
  }

  #readHead(text: string): void {
    const lines = text.split('\r\n')
    const [, minor, code] = statusLine.exec(lines[0] as string) ?? []
    if (code === undefined || code === '101') throw badAnswer()
    const status = Number(code)
    // What comes before the response, such as early hints, is none.
    if (status < 200) return
    this.#headers = readHeaders(lines)
    this.#findBody(status)
    this.#findIdleTime(minor === '1')
    // Last: a status counts only when its whole head is valid.
    this.#status = status
  }

  #findBody(status: number): void {
    const { 'transfer-encoding': encoding, 'content-length': length } = this.#headers
    if (status === 204 || status === 304) this.#part = 'done'
    else if (encoding !== undefined) {
      if (length !== undefined || typeof encoding !== 'string' || encoding.toLowerCase() !== 'chunked')
        throw badAnswer()
      this.#part = 'chunk line'
    } else if (length !== undefined) {
      if (typeof length !== 'string' || !lengthText.test(length)) throw badAnswer()
      this.#left = Number(length)
      this.#part = this.#left === 0 ? 'done' : 'sized'
    } else this.#part = 'rest'
  }

  #findIdleTime(staysByDefault: boolean): void {
    const wish = String(this.#headers['connection'] ?? '').toLowerCase()
    const stays = staysByDefault ? !wish.includes('close') : wish.includes('keep-alive')
    if (!stays || this.#part === 'rest') return
    const hint = idleHint.exec(String(this.#headers['keep-alive'] ?? ''))?.[1]
    const time = hint === undefined ? defaultIdleTime : Number(hint) * second - idleMargin
    this.idleTime = Math.min(maxIdleTime, Math.max(0, time))
  }

  #takeBody(bytes: Buffer): Buffer | undefined {
    if (this.#part === 'rest') {
      this.#body.append(bytes)
      return undefined
    }
    if (this.#part !== 'sized' && this.#part !== 'chunk') return this.#takeLine(bytes)
    const isWhole = bytes.length <= this.#left
    const piece = isWhole ? bytes : bytes.subarray(0, this.#left)
    this.#body.append(piece)
    this.#left -= piece.length
    if (this.#left === 0) this.#part = this.#part === 'sized' ? 'done' : 'chunk end'
    return isWhole ? undefined : bytes.subarray(piece.length)
  }

  #takeLine(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(0x0a)
    this.#line += bytes.toString('latin1', 0, end === -1 ? bytes.length : end + 1)
    if (this.#line.length > maxLineCharacters) throw badAnswer()
    if (end === -1) return undefined
    if (!this.#line.endsWith('\r\n')) throw badAnswer()
    const line = this.#line.slice(0, -2)
    this.#line = ''
    this.#readLine(line)
    return bytes.subarray(end + 1)
  }

  #readLine(line: string): void {
    if (forbidden.test(line)) throw badAnswer()
    if (this.#part === 'chunk line') {
      const size = chunkLine.exec(line)?.[1]
      if (size === undefined) throw badAnswer()
      this.#left = Number.parseInt(size, 16)
      this.#part = this.#left === 0 ? 'trailer' : 'chunk'
    } else if (this.#part === 'chunk end') {
      if (line !== '') throw badAnswer()
      this.#part = 'chunk line'
    } else if (line === '') this.#part = 'done'
  }
}

/** In lower case; what comes several times is a list. */
function readHeaders(lines: readonly string[]): Answer['headers'] {
  const headers: Record<string, string | string[]> = {}
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] as string
    const colon = line.indexOf(':')
    const name = line.slice(0, colon === -1 ? 0 : colon).toLowerCase()
    if (!headerName.test(name) || forbidden.test(line)) throw badAnswer()
    const value = line.slice(colon + 1).trim()
    const known = Object.hasOwn(headers, name) ? headers[name] : undefined
    headers[name] = known === undefined ? value : Array.isArray(known) ? [...known, value] : [known, value]
  }
  return headers
}

function badAnswer(): EgressError {
  return new EgressError('bad_answer', 'its answer was not valid HTTP')
}
