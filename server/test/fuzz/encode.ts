import type { Draw } from './draw.ts'

export interface EncodedBody {
  readonly contentType: string
  readonly bytes: Buffer
}

/** Writes the arguments of a body in a content type; `twice` names the member that is written two times. */
export function encodeBody(draw: Draw, contentType: string, value: unknown, twice: string | undefined): EncodedBody {
  if (Buffer.isBuffer(value)) return { contentType, bytes: value }
  const members = isObject(value) ? Object.entries(value) : []
  const repeated = members.filter(([name]) => name === twice)
  switch (contentType) {
    case 'application/x-www-form-urlencoded':
      return { contentType, bytes: Buffer.from(encodeQuery([...members, ...repeated])) }
    case 'multipart/form-data':
      return encodeMultipart(draw, [...members, ...repeated])
    default:
      return { contentType, bytes: Buffer.from(encodeJson(value, repeated)) }
  }
}

export function encodeQuery(members: readonly (readonly [string, unknown])[]): string {
  return members.map(([name, value]) => `${escapeText(name)}=${escapeText(writeText(value))}`).join('&')
}

/** Lone surrogates cannot be escaped; they go as the three bytes that an encoder without a conscience writes. */
export function escapeText(text: string): string {
  return [...text]
    .map((character) => (isLone(character) ? escapeLone(character) : encodeURIComponent(character)))
    .join('')
}

export function writeText(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('base64')
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function encodeJson(value: unknown, repeated: readonly [string, unknown][]): string {
  const text = JSON.stringify(value, (_name, member) => writeBytes(member))
  if (repeated.length === 0) return text
  const more = repeated.map(([name, member]) => `${JSON.stringify(name)}:${JSON.stringify(member)}`)
  return `${text.slice(0, -1)},${more.join(',')}}`
}

/** A buffer turns itself into an object before a replacer sees it. */
function writeBytes(member: unknown): unknown {
  const { type, data } = (member ?? {}) as { type?: unknown; data?: unknown }
  return type === 'Buffer' && Array.isArray(data) ? Buffer.from(data).toString('base64') : member
}

function encodeMultipart(draw: Draw, members: readonly [string, unknown][]): EncodedBody {
  const boundary = `----fuzz${draw.integer(1, 2147483647)}`
  const parts = members.flatMap(([name, value]) => {
    const quoted = name.replaceAll('"', '%22')
    const file = Buffer.isBuffer(value) ? '; filename="file.bin"\r\nContent-Type: application/octet-stream' : ''
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted}"${file}\r\n\r\n`
    return [Buffer.from(head), Buffer.isBuffer(value) ? value : Buffer.from(writeText(value)), Buffer.from('\r\n')]
  })
  const bytes = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)])
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isLone(character: string): boolean {
  return /^[\ud800-\udfff]$/.test(character)
}

function escapeLone(character: string): string {
  const code = character.charCodeAt(0)
  const bytes = [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase()}`).join('')
}
