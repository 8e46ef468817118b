import type { Random } from '../../base/keys/random.ts'
import type { UploadsTable } from '../../db/tables.ts'
import type { GraphError } from '../../graph/graph-error.ts'
import type { Settings } from '../../graph/settings.ts'
import {
  fileLengthTooLarge,
  fileOffsetWrong,
  tooManyBytes,
  uploadOfAnotherType,
  uploadOfUnknownType,
} from './errors.ts'
import type { UploadType } from './schemas.ts'

/** A picture has a limit of its own; other files have that of media of their kind. */
export function checkFileLength(file_length: number, file_type: UploadType, settings: Settings): void {
  const max = maxBytesOf(file_type, settings)
  if (file_length > max) throw fileLengthTooLarge({ max })
}

function maxBytesOf(file_type: UploadType, settings: Settings): number {
  switch (file_type) {
    case 'video/mp4':
      return settings.maxVideoBytes
    case 'application/pdf':
      return settings.maxDocumentBytes
    default:
      return settings.maxUploadBytes
  }
}

/** Bytes continue exactly where the previous ones ended, without gap or overlap. */
export function checkOffset({ file_offset, file_length }: UploadsTable, given: number): void {
  if (given !== file_offset) throw fileOffsetWrong({ arrived: file_offset, length: file_length })
}

export function refuseExcess({ file_length: length, file_offset: offset }: UploadsTable): GraphError {
  return tooManyBytes({ length, offset, left: length - offset })
}

const signatures: Readonly<Record<Exclude<UploadType, 'video/mp4'>, Buffer>> = {
  'image/jpeg': Buffer.from('ffd8ff', 'hex'),
  'image/png': Buffer.from('89504e470d0a1a0a', 'hex'),
  'application/pdf': Buffer.from('%PDF-'),
}

/** The library's name for an MP4 of Apple's programs. */
const videoTypes = ['video/mp4', 'video/x-m4v']

/** Whether a file begins like files of a type; its name and announced type do not count. */
export async function isOfType(start: Buffer, type: UploadType): Promise<boolean> {
  // A sound, an image and several kinds of video begin alike: the brand that follows distinguishes them.
  if (type === 'video/mp4') return videoTypes.includes((await nameType(start)) ?? '')
  const signature = signatures[type]
  return start.subarray(0, signature.length).equals(signature)
}

/** The type of a file that begins like this. */
export async function nameType(start: Buffer): Promise<string | undefined> {
  // Loading it takes a tenth of the service's whole start, and only videos and mistakes need it.
  const { fileTypeFromBuffer } = await import('file-type')
  return (await fileTypeFromBuffer(start))?.mime
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
