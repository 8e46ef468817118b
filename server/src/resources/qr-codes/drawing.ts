import { crc32, deflateSync } from 'node:zlib'

/** The modules of a QR code, row by row: 1 is dark. */
export interface Modules {
  readonly size: number
  readonly data: Uint8Array
}

/** The quiet zone that the standard requires, in modules. */
const margin = 4
/** Pixels per module of a PNG; the code of a usual address is some 400 pixels wide. */
const pngScale = 10

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')
const bitDepth = 1
const grayscale = 0
const filterNone = 0
const filterUp = 2
/** Rows of the same modules are equal, so even fast compression finds nearly everything. */
const compression = { level: 3 }

/** A PNG with one bit per pixel: small enough to be made synchronously. */
export function writePng({ size, data }: Modules): Uint8Array {
  const width = (size + 2 * margin) * pngScale
  const rowBytes = 1 + Math.ceil(width / 8)
  const rows = Buffer.alloc(rowBytes * width)
  for (let top = 0; top < width; top += pngScale) {
    const start = top * rowBytes
    rows[start] = filterNone
    rows.fill(0xff, start + 1, start + rowBytes)
    const row = top / pngScale - margin
    if (row >= 0 && row < size) drawRow(rows, start + 1, data.subarray(row * size, (row + 1) * size))
    // The other pixel rows of these modules equal the one above.
    for (let line = 1; line < pngScale; line++) rows[start + line * rowBytes] = filterUp
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(width, 4)
  header[8] = bitDepth
  header[9] = grayscale
  return Buffer.concat([
    pngSignature,
    writeChunk('IHDR', header),
    writeChunk('IDAT', deflateSync(rows, compression)),
    writeChunk('IEND', Buffer.alloc(0)),
  ])
}

function drawRow(rows: Buffer, start: number, modules: Uint8Array): void {
  for (const [column, isDark] of modules.entries()) {
    if (!isDark) continue
    const first = (column + margin) * pngScale
    for (let pixel = first; pixel < first + pngScale; pixel++) {
      const place = start + (pixel >> 3)
      rows[place] = (rows[place] as number) & ~(0x80 >> (pixel & 7))
    }
  }
}

/** A chunk: length, name, content, and a checksum of the last two. */
function writeChunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(content.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}

/** An SVG with one path: each run of dark modules is a line one module thick. */
export function writeSvg({ size, data }: Modules): string {
  const side = size + 2 * margin
  let path = ''
  for (let row = 0; row < size; row++) {
    // The end of the previous line; undefined: none in this row yet.
    let end: number | undefined
    for (let column = 0; column < size; column++) {
      if (!data[row * size + column]) continue
      const start = column
      while (column < size && data[row * size + column]) column++
      path += end === undefined ? `M${start + margin} ${row + margin}.5` : `m${start - end} 0`
      path += `h${column - start}`
      end = column
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#ffffff" d="M0 0h${side}v${side}H0z"/><path stroke="#000000" d="${path}"/></svg>\n`
}
