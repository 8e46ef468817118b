/** Puts the Opus packets of a WebM recording into Ogg pages (RFC 7845), bit by bit the same sound. */
export function toOgg(webm: Uint8Array): Uint8Array {
  const { head, packets } = readWebm(webm)
  const pages = [makePage({ packets: [head], granule: 0n, number: 0, flags: 2 })]
  pages.push(makePage({ packets: [makeTags()], granule: 0n, number: 1, flags: 0 }))
  let granule = 0n
  let waiting: Uint8Array[] = []
  let segments = 0
  const flush = (isLast: boolean) => {
    pages.push(makePage({ packets: waiting, granule, number: pages.length, flags: isLast ? 4 : 0 }))
    waiting = []
    segments = 0
  }
  packets.forEach((packet, index) => {
    const needed = Math.floor(packet.length / 255) + 1
    if (segments + needed > 255) flush(false)
    waiting.push(packet)
    segments += needed
    granule += BigInt(countSamples(packet))
    if (index === packets.length - 1) flush(true)
  })
  return join(pages)
}

const ids = {
  segment: 0x18538067,
  cluster: 0x1f43b675,
  tracks: 0x1654ae6b,
  track: 0xae,
  codecPrivate: 0x63a2,
  simpleBlock: 0xa3,
  group: 0xa0,
  block: 0xa1,
}
const containers = new Set<number>([ids.segment, ids.cluster, ids.tracks, ids.track, ids.group])

/** The head and the packets of the first track of Opus. */
function readWebm(bytes: Uint8Array): { head: Uint8Array; packets: Uint8Array[] } {
  const packets: Uint8Array[] = []
  let head: Uint8Array = makeHead()
  const walk = (from: number, to: number): void => {
    let at = from
    while (at < to) {
      const id = readNumber(bytes, at, false)
      const size = readNumber(bytes, at + id.length, true)
      const start = at + id.length + size.length
      // A live recording does not know how long its segment and clusters are.
      const end = size.isUnknown ? to : Math.min(to, start + size.value)
      if (containers.has(id.value)) walk(start, end)
      else if (id.value === ids.codecPrivate) head = bytes.slice(start, end)
      else if (id.value === ids.simpleBlock || id.value === ids.block) {
        const track = readNumber(bytes, start, true)
        packets.push(bytes.slice(start + track.length + 3, end))
      }
      at = end
    }
  }
  walk(0, bytes.length)
  return { head, packets }
}

/** A number of EBML: its first byte says how long it is. */
function readNumber(
  bytes: Uint8Array,
  at: number,
  isSize: boolean,
): { value: number; length: number; isUnknown: boolean } {
  const first = bytes[at] ?? 0
  const length = Math.clz32(first) - 23
  let value = isSize ? first & (0xff >> length) : first
  let isUnknown = isSize && value === 0xff >> length
  for (let index = 1; index < length; index++) {
    const byte = bytes[at + index] ?? 0
    value = value * 256 + byte
    if (byte !== 0xff) isUnknown = false
  }
  return { value, length, isUnknown }
}

/** How long a packet lasts, in samples of 48 kHz: its first byte says how long its frames are, and how many they are. */
function countSamples(packet: Uint8Array): number {
  const toc = packet[0] ?? 0
  const config = toc >> 3
  const silk = [480, 960, 1920, 2880]
  const celt = [120, 240, 480, 960]
  const frame =
    config < 12 ? (silk[config % 4] ?? 960) : config < 16 ? ([480, 960][config % 2] ?? 960) : (celt[config % 4] ?? 960)
  const code = toc & 3
  const frames = code === 0 ? 1 : code === 3 ? (packet[1] ?? 1) & 63 : 2
  return frame * frames
}

function makeHead(): Uint8Array {
  const head = new Uint8Array(19)
  head.set(new TextEncoder().encode('OpusHead'))
  head.set([1, 1, 0x38, 1, 0x80, 0xbb, 0, 0, 0, 0, 0], 8)
  return head
}

function makeTags(): Uint8Array {
  const vendor = new TextEncoder().encode('switchboard')
  const tags = new Uint8Array(8 + 4 + vendor.length + 4)
  tags.set(new TextEncoder().encode('OpusTags'))
  tags[8] = vendor.length
  tags.set(vendor, 12)
  return tags
}

interface Page {
  readonly packets: readonly Uint8Array[]
  readonly granule: bigint
  readonly number: number
  readonly flags: number
}

function makePage({ packets, granule, number, flags }: Page): Uint8Array {
  const lacing = packets.flatMap(({ length }) => [
    ...new Array<number>(Math.floor(length / 255)).fill(255),
    length % 255,
  ])
  const page = new Uint8Array(27 + lacing.length + packets.reduce((sum, { length }) => sum + length, 0))
  const view = new DataView(page.buffer)
  page.set([0x4f, 0x67, 0x67, 0x53, 0, flags])
  view.setBigUint64(6, granule, true)
  view.setUint32(14, 1, true)
  view.setUint32(18, number, true)
  page[26] = lacing.length
  page.set(lacing, 27)
  page.set(join(packets), 27 + lacing.length)
  view.setUint32(22, checksum(page), true)
  return page
}

/** The checksum of Ogg: polynomial 04c11db7, from the left, beginning with nothing. */
function checksum(bytes: Uint8Array): number {
  let sum = 0
  for (const byte of bytes) {
    sum ^= byte << 24
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1
  }
  return sum >>> 0
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
