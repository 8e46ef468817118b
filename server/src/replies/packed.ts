import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Reply } from '../graph/reply.ts'
import { isKnown } from './ranges.ts'

export type Encoding = 'br' | 'gzip' | 'identity'

/** A static file, compressed once and not at every request. */
export interface Packed {
  readonly contentType: string
  /** The hash of the content, the same in every process. */
  readonly hash: string
  readonly bodies: Readonly<Record<Encoding, Uint8Array>>
}

// Above this, brotli takes many times as long for a few percent.
const brotliQuality = 6

export async function pack(content: Buffer, contentType: string): Promise<Packed> {
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
    promisify(gzip)(content),
  ])
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 16)
  return { contentType, hash, bodies: { br, gzip: gz, identity: content } }
}

/** Picks the smallest encoding that a request accepts. */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding {
  return chooseOffered(acceptEncoding, ['br', 'gzip'])
}

/** Picks the first of these encodings that a request accepts. */
export function chooseOffered<Offered extends string>(
  acceptEncoding: string | undefined,
  offered: readonly Offered[],
): Offered | 'identity' {
  const accepted = new Map<string, boolean>()
  for (const part of (acceptEncoding ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const refused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    accepted.set(name, !refused)
  }
  const takes = (name: string) => accepted.get(name) ?? accepted.get('*') ?? false
  return offered.find(takes) ?? 'identity'
}

/** A packed file in the encoding that a request accepts, or a 304. */
export function replyPacked(
  request: IncomingHttpHeaders,
  { contentType, hash, bodies }: Packed,
  more: Readonly<Record<string, string>> = {},
): Reply {
  const encoding = chooseEncoding(request['accept-encoding'])
  const common = {
    ...more,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    vary: 'accept-encoding',
    // Weak, because all encodings of one content share it.
    etag: `W/"${hash}"`,
  }
  if (isKnown(request, `"${hash}"`)) return new Reply(common, undefined, { status: 304 })
  const headers = { ...common, 'content-type': contentType }
  const encoded = encoding === 'identity' ? headers : { ...headers, 'content-encoding': encoding }
  return new Reply(encoded, bodies[encoding])
}
