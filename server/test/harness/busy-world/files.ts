import { crc32, deflateSync } from 'node:zlib'

/** Files that a browser can show and play, made anew instead of being kept in the repository. */

/** A landscape whose colours depend on the seed, with the grain that makes a photo as large as it is. */
export function makePhoto(width: number, height: number, seed: number): Buffer {
  const line = 1 + width * 3
  const raw = Buffer.alloc(line * height)
  const hills = Array.from({ length: width }, (_, x) => height * (0.62 + 0.16 * Math.sin((x / width) * 6 + seed)))
  let grain = seed + 1
  for (let y = 0; y < height; y++) {
    const shade = Math.floor((y / height) * 120)
    for (let x = 0, at = y * line + 1; x < width; x++, at += 3) {
      grain = (Math.imul(grain, 1_664_525) + 1_013_904_223) >>> 0
      const isSky = y < (hills[x] ?? 0)
      raw[at] = isSky ? 110 + shade : 30 + (shade >> 2)
      raw[at + 1] = (isSky ? 155 + (shade >> 1) : 150 - (shade >> 1)) + (grain >>> 29)
      raw[at + 2] = isSky ? 230 - ((seed * 23) % 90) : 60
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits a channel, three channels.
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const chunks = [makeChunk('IHDR', header), makeChunk('IDAT', deflateSync(raw, { level: 1 })), makeChunk('IEND')]
  return Buffer.concat([signature, ...chunks])
}

function makeChunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const chunk = Buffer.alloc(body.length + 8)
  chunk.writeUInt32BE(data.length, 0)
  body.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(body), body.length + 4)
  return chunk
}

/** A voice message of so many seconds, at most five: silence, as Opus packets of 20 ms in Ogg. */
export function makeVoice(seconds: number): Buffer {
  const packets = new Array<Buffer>(seconds * 50).fill(Buffer.from('f8fffe', 'hex'))
  const head = Buffer.concat([Buffer.from('OpusHead'), Buffer.from('0101380180bb0000000000', 'hex')])
  const tags = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(8)])
  const samples = packets.length * 960
  return Buffer.concat([
    makeOggPage([head], 0, 0, 2),
    makeOggPage([tags], 0, 1, 0),
    makeOggPage(packets, samples, 2, 4),
  ])
}

function makeOggPage(packets: readonly Buffer[], granule: number, number: number, flags: number): Buffer {
  const header = Buffer.alloc(27)
  header.write('OggS', 0, 'latin1')
  header[5] = flags
  header.writeUInt32LE(granule, 6)
  header.writeUInt32LE(1, 14)
  header.writeUInt32LE(number, 18)
  header[26] = packets.length
  const page = Buffer.concat([header, Buffer.from(packets.map(({ length }) => length)), ...packets])
  page.writeUInt32LE(checksumOgg(page), 22)
  return page
}

function checksumOgg(bytes: Buffer): number {
  let sum = 0
  for (const byte of bytes) {
    sum ^= byte << 24
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1
  }
  return sum >>> 0
}

/** A document of one page. */
export function makeDocument(title: string): Buffer {
  const text = `BT /F1 24 Tf 72 720 Td (${title}) Tj ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('')
  return Buffer.from(`%PDF-1.4\n${body}trailer\n<< /Root 1 0 R /Size ${objects.length + 1} >>\n%%EOF\n`, 'latin1')
}
