import type { FileKind } from './simulated-messages.ts'

/** Small sample files, for simulated users without a file at hand. */
export const samples: Readonly<Record<FileKind, { readonly name: string; make(): Buffer }>> = {
  image: { name: 'picture.png', make: () => Buffer.from(picture, 'base64') },
  video: { name: 'video.mp4', make: makeVideo },
  audio: { name: 'voice.ogg', make: makeSound },
  document: { name: 'document.pdf', make: makeDocument },
  sticker: { name: 'sticker.webp', make: () => Buffer.from(sticker, 'base64') },
}

/** An image of one pixel, as PNG and as WebP. */
const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const sticker = 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=='

/** One page that says hello. */
function makeDocument(): Buffer {
  const text = 'BT /F1 24 Tf 40 60 Td (Hello) Tj ET'
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 120] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let file = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const at = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return `${String(at).padStart(10, '0')} 00000 n \n`
  })
  const size = objects.length + 1
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}`
  return Buffer.from(`${file}${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`)
}

/** A fifth of a second of silence, in Opus. */
function makeSound(): Buffer {
  const head = Buffer.from('4f707573486561640101000080bb0000000000', 'hex')
  const vendor = Buffer.from('switchboard')
  const length = Buffer.alloc(4)
  length.writeUInt32LE(vendor.length)
  const tags = Buffer.concat([Buffer.from('OpusTags'), length, vendor, Buffer.alloc(4)])
  const silence = Buffer.from('f8fffe', 'hex')
  const sound = Array.from({ length: 10 }, () => silence)
  return Buffer.concat([makeOggPage(0, 2, 0, [head]), makeOggPage(1, 0, 0, [tags]), makeOggPage(2, 4, 9600, sound)])
}

function makeOggPage(sequence: number, flags: number, position: number, packets: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(27)
  head.write('OggS', 'latin1')
  head.writeUInt8(flags, 5)
  head.writeUInt32LE(position, 6)
  head.writeUInt32LE(1, 14)
  head.writeUInt32LE(sequence, 18)
  head.writeUInt8(packets.length, 26)
  const page = Buffer.concat([head, Buffer.from(packets.map(({ length }) => length)), ...packets])
  page.writeUInt32LE(sumOggPage(page), 22)
  return page
}

/** The checksum of RFC 3533, from the highest bit. */
function sumOggPage(page: Buffer): number {
  let sum = 0
  for (const byte of page) {
    sum ^= byte << 24
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1
  }
  return sum >>> 0
}

/** A video track without a picture. */
function makeVideo(): Buffer {
  const matrix = integers(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
  const emptyTables = ['stsd', 'stts', 'stsc', 'stco'].map((type) => makeBox(type, integers(0, 0)))
  const sampleTable = makeBox('stbl', ...emptyTables, makeBox('stsz', integers(0, 0, 0)))
  const dataInfo = makeBox('dinf', makeBox('dref', integers(0, 1), makeBox('url ', integers(1))))
  const media = makeBox(
    'mdia',
    makeBox('mdhd', integers(0, 0, 0, 1000, 0, 0x55c40000)),
    makeBox('hdlr', integers(0, 0), Buffer.from('vide'), Buffer.alloc(13)),
    makeBox('minf', makeBox('vmhd', integers(1, 0, 0)), dataInfo, sampleTable),
  )
  const track = makeBox('trak', makeBox('tkhd', integers(7, 0, 0, 1, 0, 0, 0, 0, 0, 0), matrix, integers(0, 0)), media)
  const movie = makeBox(
    'mvhd',
    integers(0, 0, 0, 1000, 0, 0x10000, 0x1000000, 0, 0),
    matrix,
    Buffer.alloc(24),
    integers(2),
  )
  return Buffer.concat([
    makeBox('ftyp', Buffer.from('isom\0\0\x02\0isommp42', 'latin1')),
    makeBox('moov', movie, track),
  ])
}

function makeBox(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([integers(body.length + 8), Buffer.from(type, 'latin1'), body])
}

function integers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4)
  return bytes
}
