/** One page of an Ogg file (RFC 3533). */
interface Page {
  readonly flags: number
  /** Where the sound is after this page; -1 where no packet ends on it. */
  readonly granule: bigint
  readonly serial: number
  readonly lacing: Uint8Array
  readonly body: Uint8Array
}

export const firstPage = 2
export const lastPage = 4

const magic = 0x4f676753
const headLength = 27

/**
 * The packets of the first stream in an Ogg file, and where its sound ends; undefined when it is none, or broken. Stops at the first page
 * behind the given number of packets: a page of 537 bytes can hold 255 of them.
 */
export function readOgg(file: Uint8Array, mostPackets: number): { packets: Uint8Array[]; end: bigint } | undefined {
  const packets: Uint8Array[] = []
  let pieces: Uint8Array[] = []
  let serial: number | undefined
  let end = -1n
  for (let at = 0; at < file.length && packets.length <= mostPackets; ) {
    const page = readPage(file, at)
    if (!page) return undefined
    at += headLength + page.lacing.length + page.body.length
    serial ??= page.serial
    if (page.serial !== serial) continue
    if (page.granule >= 0n) end = page.granule
    let from = 0
    for (const length of page.lacing) {
      pieces.push(page.body.subarray(from, from + length))
      from += length
      if (length === 255) continue
      packets.push(Buffer.concat(pieces))
      pieces = []
    }
  }
  return serial === undefined ? undefined : { packets, end }
}

function readPage(file: Uint8Array, at: number): Page | undefined {
  const view = new DataView(file.buffer, file.byteOffset + at, file.length - at)
  if (view.byteLength < headLength || view.getUint32(0) !== magic) return undefined
  const segments = view.getUint8(26)
  if (view.byteLength < headLength + segments) return undefined
  const lacing = file.subarray(at + headLength, at + headLength + segments)
  const length = lacing.reduce((sum, one) => sum + one, 0)
  const from = at + headLength + segments
  if (file.length < from + length) return undefined
  const page = Uint8Array.from(file.subarray(at, from + length))
  new DataView(page.buffer).setUint32(22, 0, true)
  if (sumPage(page) !== view.getUint32(22, true)) return undefined
  return {
    flags: view.getUint8(5),
    granule: view.getBigInt64(6, true),
    serial: view.getUint32(14, true),
    lacing,
    body: file.subarray(from, from + length),
  }
}

/** A page with whole packets, each shorter than 255 × 255 bytes. */
export function writePage(
  { serial, sequence, flags, granule }: { serial: number; sequence: number; flags: number; granule: bigint },
  packets: readonly Uint8Array[],
): Uint8Array {
  const lacing = packets.flatMap(({ length }) => [
    ...new Array<number>(Math.floor(length / 255)).fill(255),
    length % 255,
  ])
  const head = new Uint8Array(headLength + lacing.length)
  const view = new DataView(head.buffer)
  view.setUint32(0, magic)
  view.setUint8(5, flags)
  view.setBigInt64(6, granule, true)
  view.setUint32(14, serial, true)
  view.setUint32(18, sequence, true)
  view.setUint8(26, lacing.length)
  head.set(lacing, headLength)
  const page = Buffer.concat([head, ...packets])
  page.writeUInt32LE(sumPage(page), 22)
  return page
}

/** The checksum of a page, from the highest bit. */
function sumPage(page: Uint8Array): number {
  let sum = 0
  for (const byte of page) sum = ((sum << 8) ^ (sums[(sum >>> 24) ^ byte] as number)) >>> 0
  return sum
}

const sums = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24
  for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1
  return sum >>> 0
})
