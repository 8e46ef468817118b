import type { Random } from '../../base/random.ts'
import type { UploadsTable } from '../../db/tables.ts'
import { badArgument, type GraphError, malformedRequest } from '../../graph/errors.ts'
import type { UploadType } from './schemas.ts'

export function checkFileLength(file_length: number, maxBytes: number): void {
  if (file_length > maxBytes) throw badArgument('file_length', `it must be an integer from 1 to ${maxBytes}.`)
}

/** Bytes go on exactly where those before them ended: neither a gap nor anything twice. */
export function checkOffset({ file_offset, file_length }: UploadsTable, given: number): void {
  if (given === file_offset) return
  throw badArgument(
    'file_offset',
    `it must be ${file_offset}, because ${file_offset} of ${file_length} bytes have arrived.`,
  )
}

export function tooManyBytes({ file_length, file_offset }: UploadsTable): GraphError {
  return malformedRequest(
    `The upload was opened for ${file_length} bytes, so from the offset ${file_offset} it takes ${file_length - file_offset} and not more; none of these was kept.`,
  )
}

const signatures: Record<UploadType, Buffer> = {
  'image/jpeg': Buffer.from('ffd8ff', 'hex'),
  'image/png': Buffer.from('89504e470d0a1a0a', 'hex'),
}

/** Whether a file begins as files of a type do; its name and what was said of it count for nothing. */
export function isOfType(start: Buffer, type: UploadType): boolean {
  const signature = signatures[type]
  return start.subarray(0, signature.length).equals(signature)
}

export function wrongType({ file_type }: UploadsTable, found: string | undefined): GraphError {
  return badArgument(
    'file_type',
    `the bytes are ${found === undefined ? 'not' : `${found}, not`} ${file_type}; open a new upload with the type that the file has.`,
  )
}

/** 192 bits of chance: an id tells nothing of another. */
export function makeUploadId(random: Random): string {
  return `upload:${random.bytes(24).toString('base64url')}`
}

export function makeHandle(random: Random): string {
  return random.bytes(32).toString('base64url')
}
