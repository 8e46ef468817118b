import type { IncomingMessage } from 'node:http'
import { parse } from 'fast-querystring'
import { ChunkBuffer } from '../../base/work/chunk-buffer.ts'
import type { RawBody } from '../../graph/context.ts'
import { bodyBrokeOff } from '../../graph/errors.ts'
import type { GraphError } from '../../graph/graph-error.ts'
import type { Arguments } from '../../graph/input/input.ts'
import { findJsonExcess, type JsonBounds, requestBounds } from '../../graph/input/json-bounds.ts'
import {
  badEscape,
  bodyHoldsTooMuch,
  bodyNotAnObject,
  bodyNotJson,
  bodyNotUtf8,
  bodyTooDeep,
  bodyTooLarge,
  contentTypeMissing,
  contentTypeNotTaken,
  jsonSentAsForm,
} from '../errors.ts'
import type { BodyHold } from './body-budget.ts'
import { parseFormBody } from './form-body.ts'
import { isBodyKept, keepBody } from './kept-body.ts'
import { collectMember, MultipartReader } from './multipart.ts'
import { readBoundary } from './part-head.ts'

const acceptedTypes = 'application/json, application/x-www-form-urlencoded or multipart/form-data'

export const noArguments: Arguments = { typed: true, values: {} }
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads the body of a request as arguments, in any of the three content types. */
export async function readBodyArguments(
  request: IncomingMessage,
  maxBytes: number,
  hold: BodyHold,
): Promise<Arguments> {
  const contentType = request.headers['content-type']
  if (contentType === undefined && !hasBody(request)) return noArguments
  return parseArguments(await readBytes(request, maxBytes, hold), contentType)
}

/** The arguments of a body in any of the three content types. */
export async function parseArguments(bytes: Buffer, contentType: string | undefined): Promise<Arguments> {
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
      throw refuseContentType(contentType, acceptedTypes)
  }
}

export function refuseContentType(given: string | undefined, accepted: string): GraphError {
  if (given === undefined) return contentTypeMissing({ accepted })
  return contentTypeNotTaken({ given: JSON.stringify(given.slice(0, 100)), accepted })
}

/** `multipart/form-data; boundary=…` → `multipart/form-data` */
export function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase()
}

/** The raw body, whatever its content type. The caller reads it; nothing has been read yet. */
export function readRawBody(request: IncomingMessage): RawBody {
  const length = request.headers['content-length']
  return { stream: request, length: length === undefined ? undefined : Number(length) }
}

/** Parses the arguments of a query. Escapes must be valid UTF-8; otherwise they would be stored as they stand. */
export function parseQuery(text: string): Record<string, unknown> {
  if (text.includes('%')) {
    try {
      decodeURIComponent(text)
    } catch {
      throw badEscape({ where: 'query' })
    }
  }
  return parse(text)
}

/** curl and similar clients send a body as a form by default; parsed as one, JSON would be a single argument with an odd name. */
export function refuseJson(form: string): void {
  if (/^\s*\{/.test(form.slice(0, 1000)) && form.slice(-1000).trimEnd().endsWith('}')) {
    throw jsonSentAsForm()
  }
}

export function hasBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return encoding !== undefined || (length !== undefined && length !== '0')
}

/**
 * A body over the limit is refused at once, and the rest is discarded as it arrives, so that the connection stays usable; Node's
 * request timeout ends a body that never stops. `hold` has the bytes until the last one has arrived.
 */
export function readBytes(request: IncomingMessage, maxBytes: number, hold: BodyHold): Promise<Buffer> {
  return isBodyKept(request) ? readKept(request, maxBytes, hold) : collectBytes(request, maxBytes, hold)
}

/** Where operators may see it, the first part of the body stays with the request. */
async function readKept(request: IncomingMessage, maxBytes: number, hold: BodyHold): Promise<Buffer> {
  const bytes = await collectBytes(request, maxBytes, hold)
  keepBody(request, bytes)
  return bytes
}

function collectBytes(request: IncomingMessage, maxBytes: number, hold: BodyHold): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const buffer = new ChunkBuffer()
    const length = Number(request.headers['content-length'])
    const refuse = (error: unknown) => {
      buffer.take()
      hold.release()
      request.off('data', onData)
      request.resume()
      reject(error)
    }
    const onData = (chunk: Buffer) => {
      if (buffer.length + chunk.length > maxBytes) {
        refuse(bodyTooLarge({ max: maxBytes }))
        return
      }
      try {
        // One that comes as a whole is not held for long enough to be worth counting.
        if (chunk.length !== length) hold.take(chunk.length)
        buffer.append(chunk)
      } catch (error) {
        refuse(error)
      }
    }
    if (length > maxBytes) {
      refuse(bodyTooLarge({ max: maxBytes }))
      return
    }
    request.on('data', onData)
    const onBreak = () => {
      hold.release()
      reject(bodyBrokeOff())
    }
    request.on('end', () => {
      // 'close' also follows a normal end, and creating an unused error costs more than reading a small body.
      request.off('close', onBreak)
      hold.release()
      resolve(buffer.take())
    })
    request.on('error', onBreak).on('close', onBreak)
    // The connection closed before anyone listened: no event will come.
    if (request.destroyed) onBreak()
  })
}

export function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw bodyNotUtf8()
  }
}

/** The text of a body within the limit; nothing of it has been read yet. */
export function readJson(bytes: Buffer, bounds: JsonBounds): string {
  const text = decode(bytes)
  checkJsonBounds(text, bounds)
  return text
}

export function checkJsonBounds(text: string, bounds: JsonBounds): void {
  const excess = findJsonExcess(text, bounds)
  if (excess === 'values') throw bodyHoldsTooMuch({ values: bounds.values })
  if (excess === 'depth') throw bodyTooDeep({ levels: bounds.depth })
}

export function parseJson(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw bodyNotJson({ reason: (error as Error).message })
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw bodyNotAnObject()
  }
  return parsed as Record<string, unknown>
}

/** Members come in any order; a file is read like a text member. */
async function parseMultipart(bytes: Buffer, contentType: string): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = Object.create(null)
  const reader = new MultipartReader(inOnePiece(bytes), readBoundary(contentType), Number.POSITIVE_INFINITY)
  for (let part = await reader.nextPart(); part; part = await reader.nextPart()) {
    collectMember(values, part.name, await reader.readText(part))
  }
  return values
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
