import type { Random } from '../../base/random.ts'
import type { UploadsTable } from '../../db/tables.ts'
import type { GraphError } from '../../graph/graph-error.ts'
import {
  fileLengthTooLarge,
  fileOffsetWrong,
  tooManyBytes,
  uploadOfAnotherType,
  uploadOfUnknownType,
} from './errors.ts'
import type { UploadType } from './schemas.ts'

export function checkFileLength(file_length: number, maxBytes: number): void {
  if (file_length > maxBytes) throw fileLengthTooLarge({ max: maxBytes })
}

/** Bytes continue exactly where the previous ones ended, without gap or overlap. */
export function checkOffset({ file_offset, file_length }: UploadsTable, given: number): void {
  if (given !== file_offset) throw fileOffsetWrong({ arrived: file_offset, length: file_length })
}

export function refuseExcess({ file_length: length, file_offset: offset }: UploadsTable): GraphError {
  return tooManyBytes({ length, offset, left: length - offset })
}

const signatures: Record<UploadType, Buffer> = {
  'image/jpeg': Buffer.from('ffd8ff', 'hex'),
  'image/png': Buffer.from('89504e470d0a1a0a', 'hex'),
}

/** Whether a file begins like files of a type; its name and announced type do not count. */
export function isOfType(start: Buffer, type: UploadType): boolean {
  const signature = signatures[type]
  return start.subarray(0, signature.length).equals(signature)
}

export function wrongType({ file_type }: UploadsTable, found: string | undefined): GraphError {
  return found === undefined
    ? uploadOfUnknownType({ type: file_type })
    : uploadOfAnotherType({ found, type: file_type })
}

/** 192 random bits: an id reveals nothing about another. */
export function makeUploadId(random: Random): string {
  return `upload:${random.bytes(24).toString('base64url')}`
}

export function makeHandle(random: Random): string {
  return random.bytes(32).toString('base64url')
}
