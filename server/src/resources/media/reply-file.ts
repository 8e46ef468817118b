import type { ByteRange } from '../../files/file-store.ts'
import type { LinkContext } from '../../graph/context.ts'
import { Reply } from '../../graph/reply.ts'
import { isKnown, readRange } from '../../replies/ranges.ts'
import { rangeNotSatisfiable } from './errors.ts'
import { isMediaType, mediaTypes } from './kinds.ts'

export interface RepliedFile {
  readonly sha256: string
  readonly mime_type: string
  readonly file_size: number
  /** What it is saved as, without its extension: plain ASCII without quotes. */
  readonly name: string
}

type Asked = Pick<LinkContext, 'method' | 'headers' | 'ports'>

/** Sends the bytes of a file, or a range of them. `explainMissing` throws where they are gone for a good reason. */
export async function replyWithFile(
  asked: Asked,
  { sha256, mime_type, file_size, name }: RepliedFile,
  explainMissing: () => Promise<unknown>,
): Promise<Reply> {
  const etag = `"${sha256}"`
  const isUnchanged = isKnown(asked.headers, etag)
  const range = isUnchanged ? undefined : readRange(asked.headers, etag, file_size)
  if (range === 'not satisfiable')
    throw rangeNotSatisfiable({ size: file_size }, { headers: { 'content-range': `bytes */${file_size}` } })
  const common = { etag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-store' }
  if (isUnchanged) return new Reply(common, undefined, { status: 304 })

  const stream = asked.method === 'GET' ? await openBytes(asked, sha256, range, explainMissing) : undefined
  const extension = isMediaType(mime_type) ? mediaTypes[mime_type].extension : 'bin'
  const headers = {
    ...common,
    'content-type': mime_type,
    'content-length': range ? range.end - range.start + 1 : file_size,
    'content-disposition': `attachment; filename="${name}.${extension}"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${file_size}` }),
  }
  return new Reply(headers, stream, { status: range ? 206 : 200 })
}

async function openBytes(
  { ports }: Asked,
  sha256: string,
  range: ByteRange | undefined,
  explainMissing: () => Promise<unknown>,
) {
  const file = await ports.files.get(sha256, range)
  if (file) return file.stream
  // Deleted a moment ago, so it does not exist; otherwise it is our fault.
  await explainMissing()
  throw new Error(`the bytes of the file ${sha256} are gone`)
}
