import type { ReadableBytes } from '../../files/file-store.ts'

/** A stream at the top of a compound file that identifies one application. */
const mainStreams: Readonly<Record<string, string>> = {
  WordDocument: 'application/msword',
  Workbook: 'application/vnd.ms-excel',
  Book: 'application/vnd.ms-excel',
  'PowerPoint Document': 'application/vnd.ms-powerpoint',
}

const entryBytes = 128
/** No document has a longer directory; a file that claims one is an attack. */
const maxDirectorySectors = 2000
const lastSector = 0xfffffffa

/**
 * The application of a compound file (MS-CFB: the older documents of Word, Excel and PowerPoint, and much else), by the streams at its
 * top; those of embedded documents are deeper. Undefined when it is none of the three.
 */
export async function recognizeCompoundFile(file: ReadableBytes): Promise<string | undefined> {
  const header = await file.read(0, 512)
  if (header.length < 512) return undefined
  const sectorShift = header.readUInt16LE(30)
  if (sectorShift !== 9 && sectorShift !== 12) return undefined
  const sectorBytes = 1 << sectorShift
  const readSector = (sector: number) => file.read((sector + 1) * sectorBytes, sectorBytes)

  const directory: Buffer[] = []
  let sector = header.readUInt32LE(48)
  while (sector < lastSector && directory.length < maxDirectorySectors) {
    const bytes = await readSector(sector)
    if (bytes.length < sectorBytes) break
    directory.push(bytes)
    sector = await findNext(sector)
  }
  return findMainStream(Buffer.concat(directory))

  /** The sectors of a stream form a chain in the allocation table. */
  async function findNext(from: number): Promise<number> {
    const perSector = sectorBytes / 4
    const table = await findTableSector(Math.floor(from / perSector))
    if (table >= lastSector) return table
    const next = await file.read((table + 1) * sectorBytes + (from % perSector) * 4, 4)
    return next.length === 4 ? next.readUInt32LE(0) : lastSector
  }

  /** Where a sector of the allocation table is: the header lists the first 109, a separate chain the others. */
  async function findTableSector(index: number): Promise<number> {
    if (index < 109) return header.readUInt32LE(76 + index * 4)
    const perSector = sectorBytes / 4 - 1
    let list = header.readUInt32LE(68)
    let beyond = index - 109
    for (; beyond >= perSector && list < lastSector; beyond -= perSector) {
      const next = await file.read((list + 1) * sectorBytes + perSector * 4, 4)
      list = next.length === 4 ? next.readUInt32LE(0) : lastSector
    }
    if (list >= lastSector) return lastSector
    const named = await file.read((list + 1) * sectorBytes + beyond * 4, 4)
    return named.length === 4 ? named.readUInt32LE(0) : lastSector
  }
}

/** The entries of a storage form a tree; the top ones are below the first entry of the directory. */
function findMainStream(directory: Buffer): string | undefined {
  const count = directory.length / entryBytes
  if (count === 0) return undefined
  const seen = new Set<number>()
  const waiting = [directory.readUInt32LE(76)]
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    if (index >= count || seen.has(index)) continue
    seen.add(index)
    const entry = directory.subarray(index * entryBytes, (index + 1) * entryBytes)
    const nameBytes = Math.min(64, Math.max(2, entry.readUInt16LE(64))) - 2
    const type = mainStreams[entry.toString('utf16le', 0, nameBytes)]
    if (type !== undefined) return type
    waiting.push(entry.readUInt32LE(68), entry.readUInt32LE(72))
  }
  return undefined
}
