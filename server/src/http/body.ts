import type { IncomingMessage } from 'node:http'
import { parse } from 'fast-querystring'
import { type GraphError, malformedRequest } from '../graph/errors.ts'
import type { Arguments } from '../graph/input.ts'
import { describeJsonExcess, findJsonExcess, type JsonBounds, requestBounds } from '../graph/json-bounds.ts'
import type { RawBody } from '../graph/operation.ts'
import { badEscape, parseFormBody } from './form-body.ts'
import { collectMember, openMultipart, refuseMultipart, tooManyMembers } from './multipart.ts'

const acceptedTypes = 'application/json, application/x-www-form-urlencoded or multipart/form-data'

const noArguments: Arguments = { typed: true, values: {} }
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads the body of a request as arguments, whichever of the three content types it came in. */
export async function readBodyArguments(request: IncomingMessage, maxBytes: number): Promise<Arguments> {
  const contentType = request.headers['content-type']
  if (contentType === undefined && !hasBody(request)) return noArguments
  const bytes = await readBytes(request, maxBytes)
  switch (mediaTypeOf(contentType)) {
    case 'application/json':
      return bytes.length === 0 ? noArguments : { typed: true, values: parseJson(readJson(bytes, requestBounds)) }
    case 'application/x-www-form-urlencoded':
      refuseJson(decode(bytes))
      return { typed: false, values: parseFormBody(bytes) }
    case 'multipart/form-data':
      return { typed: false, values: await parseMultipart(bytes, contentType ?? '') }
    default:
      if (bytes.length === 0) return noArguments
      throw malformedRequest(
        contentType === undefined
          ? `The body has no Content-Type; send it as ${acceptedTypes}.`
          : `The Content-Type ${JSON.stringify(contentType.slice(0, 100))} is not taken; send the body as ${acceptedTypes}.`,
      )
  }
}

/** `multipart/form-data; boundary=…` → `multipart/form-data` */
export function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase()
}

/** The body as the bytes that it is, whatever its content type. Whoever asks reads it; nothing has been read yet. */
export function readRawBody(request: IncomingMessage): RawBody {
  const length = request.headers['content-length']
  return { stream: request, length: length === undefined ? undefined : Number(length) }
}

/** Reads the arguments of a query. What is escaped must be UTF-8, or it would be kept as it stands. */
export function parseQuery(text: string): Record<string, unknown> {
  if (text.includes('%')) {
    try {
      decodeURIComponent(text)
    } catch {
      throw badEscape('query')
    }
  }
  return parse(text)
}

/** curl and its like call a body a form when they are told nothing; as one, JSON would be a single argument of an odd name. */
export function refuseJson(form: string): void {
  if (/^\s*\{/.test(form.slice(0, 1000)) && form.slice(-1000).trimEnd().endsWith('}')) {
    throw malformedRequest(
      'The body looks like JSON but came as application/x-www-form-urlencoded; send it with the header "Content-Type: application/json".',
    )
  }
}

function hasBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return encoding !== undefined || (length !== undefined && length !== '0')
}

/**
 * A body over the limit is refused at once and the rest of it thrown away as it comes, so that the connection stays usable;
 * Node's request timeout ends one that never stops.
 */
export function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) {
        chunks.push(chunk)
        return
      }
      chunks.length = 0
      request.off('data', onData)
      request.resume()
      reject(tooLarge(maxBytes))
    }
    if (Number(request.headers['content-length']) > maxBytes) {
      request.resume()
      reject(tooLarge(maxBytes))
      return
    }
    request.on('data', onData)
    const onBreak = () => reject(brokenOff())
    request.on('end', () => {
      // It closes at a good end too, and making an error for nobody costs more than reading a small body.
      request.off('close', onBreak)
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
    })
    request.on('error', onBreak).on('close', onBreak)
    // The connection was gone before anyone listened: nothing will tell of it any more.
    if (request.destroyed) onBreak()
  })
}

/**
 * Hands on a body chunk by chunk, each when the one before was dealt with. What comes behind a refusal is thrown away as it
 * comes, so that the connection stays usable.
 */
export function readInChunks(
  request: IncomingMessage,
  maxBytes: number,
  take: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let length = 0
    let taking = Promise.resolve()
    const stop = () => {
      request.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak)
      request.resume()
    }
    const refuse = (error: unknown) => {
      stop()
      reject(error)
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length > maxBytes) return refuse(tooLarge(maxBytes))
      request.pause()
      taking = take(chunk)
      taking.then(() => request.resume(), refuse)
    }
    const onEnd = () => {
      request.off('close', onBreak)
      // The end comes with the last chunk, although that one is still being dealt with.
      taking.then(() => {
        stop()
        resolve()
      }, refuse)
    }
    const onBreak = () => refuse(brokenOff())
    if (Number(request.headers['content-length']) > maxBytes) return refuse(tooLarge(maxBytes))
    request.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak)
    // The connection was gone before anyone listened: nothing will tell of it any more.
    if (request.destroyed) onBreak()
  })
}

function tooLarge(maxBytes: number): GraphError {
  return malformedRequest(`The body is larger than the ${maxBytes} bytes that are taken; send a smaller one.`)
}

export function brokenOff(): GraphError {
  return malformedRequest('The body broke off before its end; send it again.')
}

export function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw notUtf8()
  }
}

export function notUtf8(): GraphError {
  return malformedRequest('The body is not valid UTF-8; send it in that encoding.')
}

/** The text of a body that holds no more than it may; nothing of it has been read yet. */
export function readJson(bytes: Buffer, bounds: JsonBounds): string {
  const text = decode(bytes)
  checkJsonBounds(text, bounds)
  return text
}

export function checkJsonBounds(text: string, bounds: JsonBounds): void {
  const excess = findJsonExcess(text, bounds)
  if (excess) throw malformedRequest(`The body ${describeJsonExcess(excess, bounds)}`)
}

export function parseJson(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw malformedRequest(`The body is not valid JSON (${(error as Error).message}); send one object in JSON.`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw malformedRequest('The body must be a JSON object, such as {"name": "value"}.')
  }
  return parsed as Record<string, unknown>
}

/** Members come in any order; a file is read like a text member. */
function parseMultipart(bytes: Buffer, contentType: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const values: Record<string, unknown> = Object.create(null)
    const parser = openMultipart(contentType, { limits: { fieldSize: bytes.length, fileSize: bytes.length } })
    parser.on('field', (name: string, value: string) => collectMember(values, name, value))
    parser.on('file', (name: string, stream: NodeJS.ReadableStream) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => collectMember(values, name, Buffer.concat(chunks).toString()))
      stream.on('error', (error: Error) => reject(refuseMultipart(error)))
    })
    parser.on('partsLimit', () => reject(tooManyMembers()))
    parser.on('error', (error: unknown) => reject(refuseMultipart(error)))
    parser.on('finish', () => resolve(values))
    parser.end(bytes)
  })
}
