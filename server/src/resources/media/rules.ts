import { badArgument, type GraphError } from '../../graph/errors.ts'
import { type MediaKind, mediaTypes } from './kinds.ts'

export function emptyFile(): GraphError {
  return badArgument('file', 'it is empty; send a file that has bytes.')
}

export function tooLarge(kind: MediaKind, maxBytes: number): GraphError {
  const article = /^[aeiou]/.test(kind) ? 'an' : 'a'
  const named = kind === 'audio' ? 'an audio file' : `${article} ${kind}`
  return badArgument('file', `it is too large; ${named} may have at most ${maxBytes} bytes.`)
}

export function wrongType(found: string | undefined): GraphError {
  const what = found === undefined ? 'its bytes are of no type that is known' : `its bytes are of the type ${found}`
  return badArgument('file', `${what}; send one of ${Object.keys(mediaTypes).join(', ')}.`)
}

const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/
const tagPattern = /;\s*base64\s*$/i

/** What the text of a file stands for: a `data:` URL, or base64 (also of the kind for URLs, and with line breaks). */
export function decodeFile(text: string): Buffer {
  if (!/^data:/i.test(text)) return decodeBase64(text)
  const comma = text.indexOf(',')
  if (comma < 0) throw badArgument('file', 'it is a data: URL without a comma; write it as data:<type>;base64,<bytes>.')
  const data = decodePercents(text.slice(comma + 1))
  return tagPattern.test(text.slice(0, comma)) ? decodeBase64(data.toString('latin1')) : data
}

function decodeBase64(text: string): Buffer {
  const plain = text.replaceAll(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/')
  const padding = plain.endsWith('==') ? 2 : plain.endsWith('=') ? 1 : 0
  const isWhole = padding > 0 ? plain.length % 4 === 0 : plain.length % 4 !== 1
  if (!isWhole || !base64Pattern.test(plain)) {
    throw badArgument(
      'file',
      'it is not base64; send the bytes in base64, or as a data: URL, or as multipart/form-data.',
    )
  }
  return Buffer.from(plain, 'base64')
}

function decodePercents(text: string): Buffer {
  if (!/[%\u0080-\uffff]/.test(text)) return Buffer.from(text, 'latin1')
  const bytes = Buffer.from(text).toString('latin1')
  const decoded = bytes.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(decoded, 'latin1')
}

/** Where a medium can be had, below the address of the service. */
export function mediaPath(id: string): string {
  return `/media/${id}`
}
