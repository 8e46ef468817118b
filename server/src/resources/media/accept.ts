import type { ReadableBytes } from '../../files/file-store.ts'
import type { Settings } from '../../graph/settings.ts'
import { fileIsEmpty } from './errors.ts'
import { isMediaType, type MediaKind, type MediaTypeName, maxBytesOf, mediaTypes } from './kinds.ts'
import { compoundType, isAnimated, recognize, recognizeStart, sampleBytes, zipType } from './recognize.ts'
import { tooLarge, wrongType } from './rules.ts'
import { startTextCheck, type TextCheck } from './text-check.ts'

/**
 * Passes on the bytes of a file as they arrive, and throws as soon as the file is certain to be refused: its type is not accepted, or it
 * is too large for its kind.
 */
export async function* checkWhileArriving(
  bytes: AsyncIterable<Uint8Array>,
  settings: Settings,
): AsyncGenerator<Uint8Array> {
  const first: Buffer[] = []
  let size = 0
  let kind: MediaKind | undefined
  let text: TextCheck | undefined

  /** Decides the possible types by the first bytes, and then processes those bytes. */
  async function begin(): Promise<Buffer> {
    const start = Buffer.concat(first.splice(0))
    const type = await recognizeStart(start.subarray(0, sampleBytes))
    kind = kindOfStart(type, start)
    if (type === 'text/plain') text = startTextCheck(start)
    look(start)
    return start
  }

  function look(chunk: Buffer): void {
    if (kind && size > maxBytesOf(kind, settings)) throw tooLarge(kind, maxBytesOf(kind, settings))
    if (text && !text.take(chunk)) throw wrongType(undefined)
  }

  for await (const one of bytes) {
    const chunk = Buffer.from(one.buffer, one.byteOffset, one.length)
    size += chunk.length
    if (kind) {
      look(chunk)
      yield chunk
    } else {
      // A copy, because the memory of a chunk is reused for the next.
      first.push(Buffer.from(chunk))
      if (size >= sampleBytes) yield await begin()
    }
  }
  if (size === 0) throw fileIsEmpty()
  if (!kind) yield await begin()
  if (text && !text.end()) throw wrongType(undefined)
}

/** The kind that decides the largest size. The content of a container is known later; only documents come in containers. */
function kindOfStart(type: string | undefined, start: Buffer): MediaKind {
  if (type === zipType || type === compoundType) return 'document'
  if (!isMediaType(type)) throw wrongType(type)
  return kindOf(type, start)
}

function kindOf(type: MediaTypeName, start: Buffer): MediaKind {
  return type === 'image/webp' && isAnimated(start) ? 'animated sticker' : mediaTypes[type].kind
}

/** The type of a file that has arrived completely and was checked meanwhile; throws when it is not accepted. */
export async function checkArrived(file: ReadableBytes, settings: Settings): Promise<MediaTypeName> {
  const type = await recognize(file)
  if (!isMediaType(type)) throw wrongType(type)
  const kind = kindOf(type, await file.read(0, sampleBytes))
  if (file.size > maxBytesOf(kind, settings)) throw tooLarge(kind, maxBytesOf(kind, settings))
  return type
}
