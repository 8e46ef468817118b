import type { IncomingMessage } from 'node:http'
import type { ReceivedFile } from '../../files/files.ts'
import { badArgument } from '../../graph/define-error.ts'
import type { Arguments } from '../../graph/input/input.ts'
import { moreThanOneFile, uploadTooLarge } from '../errors.ts'
import { inBlocks } from './blocks.ts'
import { mediaTypeOf, readBodyArguments } from './body.ts'
import { readChunks } from './chunks.ts'
import type { FileBody, FileReception } from './file-reception.ts'
import { FormFileSplitter } from './form-file.ts'
import { JsonFileSplitter } from './json-file.ts'
import { collectMember, MultipartReader } from './multipart.ts'
import { readBoundary } from './part-head.ts'
import { readTextFileBody } from './text-file-body.ts'

/** What clients write that do not know the type of a file. */
const unknownType = 'application/octet-stream'

/** Reads a body with one file member, which is streamed to the store. */
export async function readFileBody(request: IncomingMessage, reception: FileReception): Promise<FileBody> {
  switch (mediaTypeOf(request.headers['content-type'])) {
    case 'multipart/form-data':
      return readMultipart(request, reception)
    case 'application/json':
      return readTextFileBody(request, reception, (parts) => new JsonFileSplitter(parts))
    case 'application/x-www-form-urlencoded':
      return readTextFileBody(request, reception, (parts) => new FormFileSplitter(parts))
    default:
      return { arguments: await readBodyArguments(request, reception.maxBodyBytes, reception.hold) }
  }
}

/** The file in a query, which holds it as text. An empty text replaces it in the arguments. */
export async function receiveText(
  sources: readonly Arguments[],
  { member, settings, files }: FileReception,
): Promise<{ sources: readonly Arguments[]; file?: ReceivedFile }> {
  const { name } = member
  const source = sources.find(({ values }) => Object.hasOwn(values, name))
  const text = source?.values[name]
  // Of the wrong type, or missing: refused like any other such argument.
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
 * Members come in any order, so the file may be stored before the rest of the body turns out to be invalid: then it is discarded.
 * After a refusal the rest is discarded as it arrives, so that the connection stays usable.
 */
async function readMultipart(request: IncomingMessage, reception: FileReception): Promise<FileBody> {
  const { member, maxBodyBytes, settings, files, hold } = reception
  const { fileBytes } = member.limits(settings)
  const values: Record<string, unknown> = Object.create(null)
  const chunks = readChunks(request)
  let file: ReceivedFile | undefined
  let type: string | undefined
  try {
    if (Number(request.headers['content-length']) > fileBytes + maxBodyBytes)
      throw badArgument(uploadTooLarge(member.name, { max: fileBytes }))
    const boundary = readBoundary(request.headers['content-type'] ?? '')
    const reader = new MultipartReader(chunks, boundary, maxBodyBytes, hold)
    for (let part = await reader.nextPart(); part; part = await reader.nextPart()) {
      if (part.name !== member.name) collectMember(values, part.name, await reader.readText(part))
      else if (file) throw badArgument(moreThanOneFile(member.name))
      else {
        file = await files.receive(member.check(inBlocks(reader.readContent()), settings))
        values[member.name] = ''
        type = part.type
      }
    }
    if (type && type !== unknownType && member.typeMember) values[member.typeMember] ??= type
    return { arguments: { typed: false, values }, file }
  } catch (error) {
    await file?.discard()
    throw error
  } finally {
    await chunks.return(undefined)
    request.resume()
  }
}
