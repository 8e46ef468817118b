import type { ReadableBytes } from '../../files/file-store.ts'
import { recognizeCompoundFile } from './compound-file.ts'
import { recognizeTracks } from './mp4-tracks.ts'
import { startsAsText } from './text-check.ts'

/** Container types, whose content is known only when the whole file is read. */
export const zipType = 'application/zip'
export const compoundType = 'application/x-cfb'

/** Enough to recognize almost every file. */
export const sampleBytes = 4100

/** Aliases of accepted types. */
const otherNames: Readonly<Record<string, string>> = {
  // A program that does not know animated PNG shows it as a still one.
  'image/apng': 'image/png',
  'audio/x-m4a': 'audio/mp4',
  'video/x-m4v': 'video/mp4',
  // An Ogg file of an unknown codec is treated as audio, which Ogg mostly holds.
  'application/ogg': 'audio/ogg',
}

/** Signatures that are also words: a text may begin with them, and no file of the type is a text. */
const wordLike = new Set([
  'image/bmp',
  'application/x-msdownload',
  'application/x-shockwave-flash',
  'model/stl',
  'audio/mpeg',
])

/** The type of a text that begins like this, after leading white space and comments. */
const markup: readonly (readonly [RegExp, string])[] = [
  [/^<svg[\s>]/i, 'image/svg+xml'],
  [/^<\?xml/i, 'application/xml'],
  [/^<(!doctype html|html|head|body|script|style|iframe)[\s>]/i, 'text/html'],
]

/**
 * The type of a file by its first bytes; undefined when unknown. For containers it says only that they are one.
 */
export async function recognizeStart(start: Buffer): Promise<string | undefined> {
  const latin = start.toString('latin1', 0, 16)
  if (latin.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (latin.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (latin.startsWith('%PDF-')) return 'application/pdf'
  if (latin.startsWith('PK\x03\x04')) return zipType
  const known = await askLibrary(async ({ fileTypeFromBuffer }) => fileTypeFromBuffer(start))
  const isText = startsAsText(start)
  if (known !== undefined && !(isText && wordLike.has(known))) return known
  if (!isText) return latin.startsWith('ID3') ? 'audio/mpeg' : undefined
  return recognizeMarkup(start) ?? 'text/plain'
}

function recognizeMarkup(start: Buffer): string | undefined {
  const text = start
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .replace(/^(\s|<!--[\s\S]*?-->)+/, '')
  return markup.find(([pattern]) => pattern.test(text))?.[1]
}

/** The type of a whole file, including the content of containers. */
export async function recognize(file: ReadableBytes): Promise<string | undefined> {
  const start = await file.read(0, sampleBytes)
  const type = await recognizeStart(start)
  switch (type) {
    case zipType:
      return askLibrary(({ fileTypeFromBlob }) => fileTypeFromBlob(asBlob(file)))
    case compoundType:
      return (await recognizeCompoundFile(file)) ?? compoundType
    case 'video/mp4':
      return (await recognizeTracks(file)) === 'audio' ? 'audio/mp4' : type
    case 'audio/mpeg':
      // Behind the tags of an audio file there may be another type.
      if (!start.toString('latin1', 0, 3).startsWith('ID3')) return type
      return (await askLibrary(({ fileTypeFromBlob }) => fileTypeFromBlob(asBlob(file)))) ?? type
    default:
      return type
  }
}

/** Whether a WebP image is animated: a flag of its extended header. */
export function isAnimated(start: Buffer): boolean {
  return start.toString('latin1', 12, 16) === 'VP8X' && ((start[20] ?? 0) & 0x02) !== 0
}

async function askLibrary(
  ask: (library: typeof import('file-type')) => Promise<{ mime: string } | undefined>,
): Promise<string | undefined> {
  // Loading it takes a tenth of the service's start time, so it waits for the first file.
  const library = await import('file-type')
  try {
    const mime = (await ask(library))?.mime.split(';', 1)[0]
    return mime === undefined ? undefined : (otherNames[mime] ?? mime)
  } catch (error) {
    // A file that could not be read is a fault; a file that the library fails on is of an unknown type.
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error
    return undefined
  }
}

/** The part of a Blob that the library needs: it reads by position, and skips the rest. */
function asBlob(file: ReadableBytes): Blob {
  const slice = (start: number, end: number) => ({
    async arrayBuffer() {
      const bytes = await file.read(start, end - start)
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
    },
  })
  return { size: file.size, type: '', slice } as unknown as Blob
}
