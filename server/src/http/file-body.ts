import type { IncomingMessage } from 'node:http'
import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy'
import type { Files, ReceivedFile } from '../files/files.ts'
import { badArgument, type GraphError, malformedRequest } from '../graph/errors.ts'
import type { Arguments } from '../graph/input.ts'
import type { FileMember } from '../graph/operation.ts'
import type { Settings } from '../graph/settings.ts'
import { BlockQueue, giveBack } from './blocks.ts'
import { brokenOff, mediaTypeOf, readBodyArguments } from './body.ts'
import { FormFileSplitter } from './form-file.ts'
import { JsonFileSplitter } from './json-file.ts'
import { collectMember, openMultipart, refuseMultipart, tooManyMembers } from './multipart.ts'
import { readTextFileBody } from './text-file-body.ts'

/** How a file is received. */
export interface FileReception {
  readonly member: FileMember
  /** The most that the members besides it may have. */
  readonly maxBodyBytes: number
  readonly settings: Settings
  readonly files: Files
}

export interface FileBody {
  readonly arguments: Arguments
  /** Whoever gets it keeps it or lets it go. */
  readonly file?: ReceivedFile | undefined
}

/** Reads a body of which one member is a file, which goes to the store as it comes. */
export async function readFileBody(request: IncomingMessage, reception: FileReception): Promise<FileBody> {
  switch (mediaTypeOf(request.headers['content-type'])) {
    case 'multipart/form-data':
      return readMultipart(request, reception)
    case 'application/json':
      return readTextFileBody(request, reception, (parts) => new JsonFileSplitter(parts))
    case 'application/x-www-form-urlencoded':
      return readTextFileBody(request, reception, (parts) => new FormFileSplitter(parts))
    default:
      return { arguments: await readBodyArguments(request, reception.maxBodyBytes) }
  }
}

/** The file of a query, which holds it as text. Its place in the arguments is taken by an empty text. */
export async function receiveText(
  sources: readonly Arguments[],
  { member, settings, files }: FileReception,
): Promise<{ sources: readonly Arguments[]; file?: ReceivedFile }> {
  const { name } = member
  const source = sources.find(({ values }) => Object.hasOwn(values, name))
  const text = source?.values[name]
  // Of another type, or not there: refused like every argument that is.
  if (!source || typeof text !== 'string') return { sources }
  const decoder = member.openText()
  const file = await files.receive(member.check(inPieces([decoder.decode(text), decoder.end()]), settings))
  const without = { ...source, values: { ...source.values, [name]: '' } }
  return { sources: sources.map((one) => (one === source ? without : one)), file }
}

async function* inPieces(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) if (piece.length > 0) yield piece
}

/**
 * Members come in any order, so the file may be there before it is known that the rest of the body is not as it should be:
 * then it is let go. What comes behind a refusal is thrown away as it comes, so that the connection stays usable.
 */
async function readMultipart(request: IncomingMessage, reception: FileReception): Promise<FileBody> {
  const { member, maxBodyBytes, settings, files } = reception
  const { fileBytes } = member.limits(settings)
  if (Number(request.headers['content-length']) > fileBytes + maxBodyBytes) {
    request.resume()
    throw tooLarge(member, fileBytes)
  }

  const parser = openMultipart(request.headers['content-type'] ?? '', {
    isPartAFile: (name) => name === member.name,
    limits: { files: 1, fieldSize: maxBodyBytes },
  })
  const values: Record<string, unknown> = Object.create(null)
  const blocks = new BlockQueue()
  const whole = Promise.withResolvers<void>()
  let file: Promise<ReceivedFile> | undefined
  let textBytes = 0

  parser.on('file', (_name: string, part: BusboyFileStream) => {
    values[member.name] = ''
    part.on('data', (bytes: Buffer) => blocks.append(bytes))
    part.on('end', () => {
      if (blocks.appended === part.bytesRead) blocks.end()
      else blocks.fail(new Error(`${part.bytesRead - blocks.appended} bytes of a file were let go too early`))
    })
    part.on('error', (error: Error) => blocks.fail(error))
    file = files.receive(member.check(blocks, settings))
    file.catch(whole.reject)
  })
  parser.on('field', (name: string, value: string, _nameCut: boolean, valueCut: boolean) => {
    textBytes += Buffer.byteLength(value)
    if (valueCut || textBytes > maxBodyBytes) whole.reject(tooMuchText(maxBodyBytes))
    else collectMember(values, name, value)
  })
  parser.on('filesLimit', () => whole.reject(badArgument(member.name, 'there is more than one; send one file.')))
  parser.on('partsLimit', () => whole.reject(tooManyMembers()))
  parser.on('error', (error: unknown) => whole.reject(refuseMultipart(error)))
  parser.on('finish', () => whole.resolve())
  const stopReading = readChunks(request, parser, () => blocks.waitForRoom(), whole.reject)

  try {
    await whole.promise
    return { arguments: { typed: false, values }, file: await file }
  } catch (error) {
    blocks.fail(error)
    const refused = await file?.catch(() => undefined)
    await refused?.discard()
    throw error
  } finally {
    stopReading()
  }
}

/**
 * Gives a body to a parser chunk by chunk, each when the one before was dealt with, until it is told to stop; then the rest is
 * thrown away. The memory of a chunk is given back at once, because otherwise a large file would leave tens of megabytes
 * behind until the garbage is collected. By then the parser has handed all of it on: it works through a chunk in one turn.
 */
function readChunks(
  request: IncomingMessage,
  parser: BusboyInstance,
  waitForRoom: () => Promise<void>,
  fail: (error: unknown) => void,
): () => void {
  let isStopped = false
  const onData = async (chunk: Buffer) => {
    request.pause()
    await new Promise((resolve) => parser.write(chunk, resolve))
    await new Promise(setImmediate)
    giveBack(chunk)
    await waitForRoom()
    if (!isStopped) request.resume()
  }
  const onEnd = () => parser.end()
  const onBreak = () => {
    if (!request.readableEnded) fail(brokenOff())
  }
  request.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak)
  // The connection was gone before anyone listened: nothing will tell of it any more.
  if (request.destroyed) onBreak()
  return () => {
    isStopped = true
    request.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak)
    request.resume()
  }
}

function tooLarge({ name }: FileMember, fileBytes: number): GraphError {
  return badArgument(name, `it is too large; no file may have more than ${fileBytes} bytes.`)
}

export function tooMuchText(maxBodyBytes: number): GraphError {
  return malformedRequest(
    `The members besides the file are larger than the ${maxBodyBytes} bytes that are taken; shorten them.`,
  )
}
