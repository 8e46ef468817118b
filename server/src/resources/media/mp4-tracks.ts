import type { ReadableBytes } from '../../files/file-store.ts'

/** More boxes than any film has before its tracks; a file with more is an attack. */
const maxBoxes = 5000

interface Box {
  readonly type: string
  readonly start: number
  readonly end: number
}

/**
 * What the tracks of an MP4 file hold: video, or only audio. Undefined when it has no track of either, or points to unreadable places.
 */
export async function recognizeTracks(file: ReadableBytes): Promise<'video' | 'audio' | undefined> {
  let visited = 0
  const handlers = new Set<string>()

  async function* listBoxes(start: number, end: number): AsyncGenerator<Box> {
    for (let at = start; at + 8 <= end && ++visited <= maxBoxes; ) {
      const header = await file.read(at, 16)
      if (header.length < 8) return
      const short = header.readUInt32BE(0)
      // 1: a 64-bit length follows; 0: to the end.
      const isLong = short === 1 && header.length === 16
      const length = isLong ? Number(header.readBigUInt64BE(8)) : short === 0 ? end - at : short
      const headerBytes = isLong ? 16 : 8
      if (length < headerBytes) return
      yield { type: header.toString('latin1', 4, 8), start: at + headerBytes, end: Math.min(end, at + length) }
      at += length
    }
  }

  async function visit(start: number, end: number, path: readonly string[]): Promise<void> {
    const [wanted, ...deeper] = path
    for await (const box of listBoxes(start, end)) {
      if (box.type !== wanted) continue
      if (deeper.length > 0) await visit(box.start, box.end, deeper)
      else handlers.add((await file.read(box.start + 8, 4)).toString('latin1'))
    }
  }

  await visit(0, file.size, ['moov', 'trak', 'mdia', 'hdlr'])
  return handlers.has('vide') ? 'video' : handlers.has('soun') ? 'audio' : undefined
}
