import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { chooseOffered } from '../../replies/packed.ts'

/** Shorter ones fit into one packet, whether they are compressed or not. */
export const compressedFrom = 1400

/**
 * The lowest levels: on lists of the API they take a quarter of the time of the usual ones, and leave within a tenth of the size
 * (docs/decisions/0072-history-and-compression.md has the figures). In the order in which they are preferred.
 */
const compressors = {
  zstd: (text: string) => promisify(zstdCompress)(text, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  br: (text: string) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  gzip: (text: string) => promisify(gzip)(text, { level: 1 }),
}
const encodings = Object.keys(compressors) as (keyof typeof compressors)[]

/** So many at once; others are sent as they are, so that none waits for threads that files and look-ups of names need as well. */
const maxAtOnce = 8
let running = 0

export interface CompressedJson {
  readonly encoding: string
  readonly body: Buffer
}

/** Compresses a response on another thread, if the request accepts that; undefined: it is sent as it is. */
export function compressJson(text: string, acceptEncoding: string | undefined): Promise<CompressedJson> | undefined {
  if (acceptEncoding === undefined || running >= maxAtOnce) return undefined
  const encoding = chooseOffered(acceptEncoding, encodings)
  return encoding === 'identity' ? undefined : compressAs(encoding, text)
}

async function compressAs(encoding: keyof typeof compressors, text: string): Promise<CompressedJson> {
  running += 1
  try {
    return { encoding, body: await compressors[encoding](text) }
  } finally {
    running -= 1
  }
}
