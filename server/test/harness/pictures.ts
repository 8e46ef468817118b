import { randomBytes } from 'node:crypto'

const starts = { 'image/png': '89504e470d0a1a0a', 'image/jpeg': 'ffd8ffe0', 'image/gif': '474946383961' } as const

/** Bytes that begin as a picture of that type does; what follows differs from call to call. */
export function makePicture(type: keyof typeof starts, size: number): Buffer {
  const start = Buffer.from(starts[type], 'hex')
  return Buffer.concat([start, randomBytes(size - start.length)])
}
