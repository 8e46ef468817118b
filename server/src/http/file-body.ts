import type { IncomingMessage } from 'node:http'
import type { Files, ReceivedFile } from '../files/files.ts'
import { badArgument, type GraphError } from '../graph/errors.ts'
import type { Arguments } from '../graph/input.ts'
import type { FileMember } from '../graph/operation.ts'
import type { Settings } from '../graph/settings.ts'
import { inBlocks, release } from './blocks.ts'
import { brokenOff, inOnePiece, mediaTypeOf, readBodyArguments } from './body.ts'
import { collectMember, MultipartReader } from './multipart.ts'
import { readBoundary } from './part-head.ts'

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

/** Reads a body of which one member is a file: in multipart it goes to the store as it comes. */
export async function readFileBody(request: IncomingMessage, reception: FileReception): Promise<FileBody> {
  if (mediaTypeOf(request.headers['content-type']) === 'multipart/form-data') return readMultipart(request, reception)
  const { textBodyBytes } = reception.member.limits(reception.settings)
  return { arguments: await readBodyArguments(request, textBodyBytes) }
}

/** The file of a body, or of a query, that holds it as text. Its place in the arguments is taken by an empty text. */
export async function receiveText(
  sources: readonly Arguments[],
  { member, settings, files }: FileReception,
): Promise<{ sources: readonly Arguments[]; file?: ReceivedFile }> {
  const { name } = member
  const source = sources.find(({ values }) => Object.hasOwn(values, name))
  const text = source?.values[name]
  // Of another type, or not there: refused like every argument that is.
  if (!source || typeof text !== 'string') return { sources }
  const file = await files.receive(member.check(inOnePiece(member.decode(text)), settings))
  const without = { ...source, values: { ...source.values, [name]: '' } }
  return { sources: sources.map((one) => (one === source ? without : one)), file }
}

/**
 * Members come in any order, so the file may be there before it is known that the rest of the body is not as it should be:
 * then it is discarded. What comes behind a refusal is thrown away as it comes, so that the connection stays usable.
 */
async function readMultipart(request: IncomingMessage, reception: FileReception): Promise<FileBody> {
  const { member, maxBodyBytes, settings, files } = reception
  const { fileBytes } = member.limits(settings)
  const values: Record<string, unknown> = Object.create(null)
  const chunks = readChunks(request)
  let file: ReceivedFile | undefined
  try {
    if (Number(request.headers['content-length']) > fileBytes + maxBodyBytes) throw tooLarge(member, fileBytes)
    const boundary = readBoundary(request.headers['content-type'] ?? '')
    const reader = new MultipartReader(chunks, boundary, maxBodyBytes)
    for (let part = await reader.nextPart(); part; part = await reader.nextPart()) {
      if (part.name !== member.name) collectMember(values, part.name, await reader.readText(part))
      else if (file) throw badArgument(member.name, 'there is more than one; send one file.')
      else {
        file = await files.receive(member.check(inBlocks(reader.readContent()), settings))
        values[member.name] = ''
      }
    }
    return { arguments: { typed: false, values }, file }
  } catch (error) {
    await file?.discard()
    throw error
  } finally {
    await chunks.return(undefined)
    request.resume()
  }
}

/** The body as it comes, each chunk until the next is asked for; throws when it breaks off. Leaving early lets it flow on. */
async function* readChunks(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      yield chunk
      release(chunk)
    }
  } catch {
    throw brokenOff()
  }
}

function tooLarge({ name }: FileMember, fileBytes: number): GraphError {
  return badArgument(name, `it is too large; no file may have more than ${fileBytes} bytes.`)
}
