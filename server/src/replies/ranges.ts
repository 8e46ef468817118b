import type { IncomingHttpHeaders } from 'node:http'
import type { ByteRange } from '../files/file-store.ts'

/**
 * The requested range of a blob; undefined for all of it. Several ranges, other units and malformed ranges are ignored (RFC 9110,
 * 14.2), and so is a range of an outdated blob.
 */
export function readRange(
  { range, 'if-range': condition }: IncomingHttpHeaders,
  etag: string,
  size: number,
): ByteRange | 'not satisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(range?.trim() ?? '') ?? []
  if ((first === '' && last === '') || (condition !== undefined && condition !== etag)) return undefined
  if (first === '') {
    const count = Math.min(Number(last), size)
    return count === 0 ? 'not satisfiable' : { start: size - count, end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return undefined
  return start >= size ? 'not satisfiable' : { start, end }
}

/** Whether the client already has the blob (If-None-Match). */
export function isKnown({ 'if-none-match': known }: IncomingHttpHeaders, etag: string): boolean {
  return known?.split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim())) ?? false
}
