import type { Random } from '../../base/keys/random.ts'
import type { QrCodesTable } from '../../db/tables.ts'
import type { Caller } from '../../graph/caller.ts'
import type { FieldSelection } from '../../graph/fields.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { codePattern, type ImageFormat, imageFormats } from './schemas.ts'

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const codeLength = 14

/** Anyone with a code can open its page, so codes are random and none reveals another. */
export function drawCode(random: Random, { habits }: Vocabulary): string {
  // Patterns of libraries leave out digits that look like letters.
  const alphabet = `${letters}${habits.library_fields ? '234567' : '0123456789'}`
  return Array.from({ length: codeLength }, () => alphabet[random.integer(0, alphabet.length)]).join('')
}

export function isCode(text: string): boolean {
  return codePattern.test(text)
}

const alwaysShown = ['code', 'prefilled_message', 'deep_link_url']

export const qrCodeFields: FieldSelection = {
  available: [...alwaysShown, 'creation_time', ...imageFormats.map(imageField)],
  defaults: alwaysShown,
  mode: 'add',
}

function imageField(format: ImageFormat): string {
  return `qr_image_url.format(${format})`
}

export function deepLinkOf(publicUrl: string, code: string): string {
  return `${publicUrl}/message/${code}`
}

function imageUrlOf(publicUrl: string, code: string, format: ImageFormat): string {
  return `${publicUrl}/qr/${code}.${format.toLowerCase()}`
}

/** A code in responses, with the address of its image when a format is requested. */
export function toMessageQrCode(
  { code, prefilled_message }: Pick<QrCodesTable, 'code' | 'prefilled_message'>,
  publicUrl: string,
  format: ImageFormat | undefined,
) {
  return {
    code,
    prefilled_message,
    deep_link_url: deepLinkOf(publicUrl, code),
    ...(format && { qr_image_url: imageUrlOf(publicUrl, code, format) }),
  }
}

/** The same with the members that `fields` added; `creation_time` is only for first-party apps. */
export function showMessageQrCode(
  row: QrCodesTable,
  fields: readonly string[],
  caller: Caller,
  publicUrl: string,
): Record<string, unknown> {
  // A response has one address: of two formats, the last requested.
  const format = fields.map((name) => imageFormats.find((known) => imageField(known) === name)).findLast(Boolean)
  return {
    ...toMessageQrCode(row, publicUrl, format),
    ...(fields.includes('creation_time') &&
      caller.first_party && { creation_time: Math.floor(row.creation_time / 1000) }),
  }
}

/** The format in `generate_qr_image`, in either case. */
export function readImageFormat(text: string | undefined): ImageFormat | undefined {
  return imageFormats.find((format) => format === text?.toUpperCase())
}
