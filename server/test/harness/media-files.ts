import { crc32 } from 'node:zlib'

/** The smallest files that are still recognized by their bytes; `fill` makes one of any size. */

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
export const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex')
export const gif = Buffer.from('47494638396101000100800000000000ffffff2c00000000010001000002024401003b', 'hex')
export const aac = Buffer.from('fff15080037ffc21004fff', 'hex')
export const amr = Buffer.concat([Buffer.from('#!AMR\n'), Buffer.from('3c4854f1', 'hex'), Buffer.alloc(28)])
export const mp3 = Buffer.concat([Buffer.from('fffb9064', 'hex'), Buffer.alloc(413)])
/** A tag of 20 bytes in front of what follows. */
export const id3 = Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\x14', 'latin1'), Buffer.alloc(20)])
export const flac = Buffer.concat([Buffer.from('fLaC\0\0\0\x22', 'latin1'), Buffer.alloc(34)])
export const pdf = Buffer.from('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n1 0 obj\n<<>>\nendobj\n%%EOF\n', 'latin1')

/** A file padded with zeros, or with more of its text. */
export function fill(file: Buffer, size: number, byte = 0): Buffer {
  return Buffer.concat([file, Buffer.alloc(size - file.length, byte)])
}

export function ogg(codec: 'OpusHead' | '\x01vorbis' | '\x80theora'): Buffer {
  const packet = Buffer.concat([Buffer.from(codec, 'latin1'), Buffer.from('0101380180bb0000000000', 'hex')])
  const header = Buffer.alloc(28)
  header.write('OggS', 0, 'latin1')
  header[5] = 2
  header[26] = 1
  header[27] = packet.length
  return Buffer.concat([header, packet])
}

export function webp({ animated, extended = animated }: { animated: boolean; extended?: boolean }): Buffer {
  const chunk = Buffer.alloc(18)
  chunk.write(extended ? 'VP8X' : 'VP8L', 0, 'latin1')
  chunk.writeUInt32LE(10, 4)
  // Alpha and metadata flags are set as well, so that only the right flag decides.
  chunk[8] = 0x18 | (animated ? 0x02 : 0)
  const head = Buffer.alloc(12)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(4 + chunk.length, 4)
  head.write('WEBP', 8, 'latin1')
  return Buffer.concat([head, chunk])
}

function box(type: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8, 0)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, body])
}

/** A file of the ISO family with tracks of these kinds, which stand behind the data as in what a camera writes. */
export function mp4(brand: string, tracks: readonly ('vide' | 'soun' | 'text')[] = []): Buffer {
  const traks = tracks.map((kind) =>
    box('trak', box('tkhd', Buffer.alloc(84)), box('mdia', box('mdhd', Buffer.alloc(24)), handler(kind))),
  )
  const moov = tracks.length === 0 ? [] : [box('moov', box('mvhd', Buffer.alloc(100)), ...traks)]
  return Buffer.concat([
    box('ftyp', Buffer.from(`${brand}\0\0\x02\0isommp42`, 'latin1')),
    // A box with a length of 64 bits.
    Buffer.concat([Buffer.from('00000001', 'hex'), Buffer.from('mdat'), Buffer.from('0000000000010010', 'hex')]),
    Buffer.alloc(65_536, 0xa5),
    ...moov,
  ])
}

function handler(kind: string): Buffer {
  return box('hdlr', Buffer.alloc(8), Buffer.from(kind), Buffer.alloc(13))
}

/** A zip archive of files that are stored as they are. */
export function zip(entries: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(entries)) {
    const content = Buffer.from(text)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt32LE(crc32(content), 14)
    local.writeUInt32LE(content.length, 18)
    local.writeUInt32LE(content.length, 22)
    local.writeUInt16LE(name.length, 26)
    const listed = Buffer.alloc(46)
    listed.writeUInt32LE(0x02014b50, 0)
    listed.writeUInt16LE(20, 4)
    local.copy(listed, 6, 4, 30)
    listed.writeUInt32LE(offset, 42)
    locals.push(local, Buffer.from(name), content)
    central.push(listed, Buffer.from(name))
    offset += local.length + name.length + content.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(locals.length / 3, 8)
  end.writeUInt16LE(locals.length / 3, 10)
  end.writeUInt32LE(Buffer.concat(central).length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, ...central, end])
}

const mainParts = {
  docx: ['word/document.xml', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  xlsx: ['xl/workbook.xml', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  pptx: ['ppt/presentation.xml', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  docm: ['word/document.xml', 'application/vnd.ms-word.document.macroEnabled'],
} as const

/** A modern office document; `filler` bytes precede the part that identifies it. */
export function officeDocument(kind: keyof typeof mainParts, filler = 0): Buffer {
  const [part, type] = mainParts[kind]
  return zip({
    'docProps/thumbnail.bin': 'x'.repeat(filler),
    '[Content_Types].xml': `<Types><Override PartName="/${part}" ContentType="${type}.main+xml"/></Types>`,
    [part]: '<w/>',
  })
}

const noSector = 0xffffffff
const endOfChain = 0xfffffffe

/**
 * A compound file with these streams at its top, and below a storage a document of another kind. Its directory stands behind
 * `before` other sectors, each of them allocated, and is in two pieces.
 */
export function compoundFile(streams: readonly string[], { before = 0, embedded = 'Workbook' } = {}): Buffer {
  const entries = ['Root Entry', 'ObjectPool', embedded, 'Filler', ...streams]
  const directory = Buffer.alloc(Math.ceil(entries.length / 4) * 512)
  for (const [index, name] of entries.entries()) {
    const at = index * 128
    directory.write(name, at, 'utf16le')
    directory.writeUInt16LE(name.length * 2 + 2, at + 64)
    for (const place of [68, 72, 76]) directory.writeUInt32LE(noSector, at + place)
  }
  // The root's children: the storage, to its right the first stream, and so on; the embedded one is below the storage.
  directory.writeUInt32LE(1, 76)
  directory.writeUInt32LE(2, 128 + 76)
  for (let index = 4; index < entries.length; index++) {
    directory.writeUInt32LE(index, (index === 4 ? 1 : index - 1) * 128 + 72)
  }
  const directorySectors = directory.length / 512
  // The tables have entries for themselves too.
  const tables = Math.ceil((before * 1.02 + directorySectors * 2 + 200) / 128)
  const lists = Math.max(0, Math.ceil((tables - 109) / 127))
  // Sectors: the tables, the lists of those that the header has no room for, the others, then the directory with gaps.
  const places = Array.from({ length: directorySectors }, (_, index) => tables + lists + before + index * 2)
  const sectors = Buffer.alloc(((places.at(-1) ?? 0) + 1) * 512)
  for (const [index, place] of places.entries()) {
    directory.copy(sectors, place * 512, index * 512, (index + 1) * 512)
    sectors.writeUInt32LE(places[index + 1] ?? endOfChain, place * 4)
  }
  const header = Buffer.alloc(512)
  header.write('d0cf11e0a1b11ae1', 0, 'hex')
  header.writeUInt16LE(9, 30)
  header.writeUInt32LE(tables, 44)
  header.writeUInt32LE(places[0] ?? endOfChain, 48)
  header.writeUInt32LE(lists === 0 ? endOfChain : tables, 68)
  header.writeUInt32LE(lists, 72)
  for (let index = 0; index < 109; index++) header.writeUInt32LE(index < tables ? index : noSector, 76 + index * 4)
  for (let list = 0; list < lists; list++) {
    const at = (tables + list) * 512
    for (let index = 0; index < 127; index++) {
      const table = 109 + list * 127 + index
      sectors.writeUInt32LE(table < tables ? table : noSector, at + index * 4)
    }
    sectors.writeUInt32LE(list + 1 < lists ? tables + list + 1 : endOfChain, at + 508)
  }
  return Buffer.concat([header, sectors])
}
