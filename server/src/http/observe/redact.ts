import { mediaTypeOf } from '../body/body.ts'
import { readBoundary, readPartHead } from '../body/part-head.ts'

const redacted = '…'
const secretHeaders = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-hub-signature',
  'x-hub-signature-256',
  'webhook-signature',
  'x-api-key',
  'x-auth-token',
  'x-console-code',
  'x-console-proof',
])
/** Members of bodies and parameters of queries whose values nobody but their owner may see. */
const secretNames =
  'access_token|refresh_token|fb_exchange_token|code_verifier|id_token|input_token|token|ticket|verify_token|secret|client_secret|app_secret|pin|code|password|passphrase|certificate|private_key|hub\\.verify_token|appsecret_proof|signature'
/** The index of a list belongs to the name: `pin[0]`. */
const isSecret = new RegExp(`^(?:${secretNames})(?:\\[.*)?$`, 'i')
/** In what looks like JSON and is none, for the eyes of whoever looks for the fault. */
const inBrokenJson = new RegExp(
  `(\\b(?:${secretNames})\\b['"]?\\s*[:=]\\s*)(?:"[^"\\n]*"?|'[^'\\n]*'?|[^\\s,;}&]+)`,
  'gi',
)

/**
 * Replaces the values of secrets in a body, of which the end may be missing. Names are read as the server reads them, escapes and all;
 * of what it does not read nothing is shown.
 */
export function redactBody(text: string, contentType: string | undefined): string {
  return redactAnywhere(redactMembers(text, contentType))
}

/** Tokens of this service and of apps, and credentials in addresses: secrets by what they look like, wherever they were put by mistake. */
function redactAnywhere(text: string): string {
  return text
    .replaceAll(/\bsb_[\w-]{43}/g, redacted)
    .replaceAll(/\b\d{15,20}(?:\||%7c)[\w-]{16,}/gi, redacted)
    .replaceAll(/(\bhttps?:\/\/)[^\s/?#@"'<>]+@/gi, `$1${redacted}@`)
}

function redactMembers(text: string, contentType: string | undefined): string {
  switch (mediaTypeOf(contentType)) {
    case 'application/json':
      return redactJson(text)
    case 'application/x-www-form-urlencoded':
      return /^\s*[{[]/.test(text) ? redactJson(text) : redactForm(text)
    case 'multipart/form-data':
      return redactMultipart(text, contentType ?? '')
    default:
      return text === '' ? '' : redacted
  }
}

export function redactUrl(url: string): string {
  const start = url.indexOf('?') + 1
  return redactAnywhere(start === 0 ? url : url.slice(0, start) + redactForm(url.slice(start)))
}

/** Headers as they came: names and values in turn. */
export function redactHeaders(raw: readonly string[]): Record<string, string> {
  // A header may be called `constructor` or `__proto__`.
  const shown: Record<string, string> = Object.create(null)
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = String(raw[index]).toLowerCase()
    const value = secretHeaders.has(name) ? redacted : redactUrl(String(raw[index + 1]))
    shown[name] = shown[name] === undefined ? value : `${shown[name]}, ${value}`
  }
  return shown
}

const jsonToken = /\s+|"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|[{}[\]:,]|[^\s"{}[\]:,]+/y

/** How deep texts inside of texts are read; nobody needs to see what is deeper. */
const maxTexts = 3

/** Goes from token to token, so that a body whose end is missing is read as far as it goes, and shown as it was written. */
export function redactJson(text: string, depth = 0): string {
  const tokens = [...readTokens(text)]
  let shown = ''
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] as string
    const colon = token.startsWith('"') ? skipBlanks(tokens, index + 1) : index
    if (tokens[colon] !== ':') {
      shown += redactInside(token, depth)
      continue
    }
    const value = skipBlanks(tokens, colon + 1)
    shown += tokens.slice(index, value).join('')
    if (!isSecret.test(readString(token))) {
      index = value - 1
      continue
    }
    if (value < tokens.length) shown += `"${redacted}"`
    index = endOfValue(tokens, value) - 1
  }
  return isJson(text) ? shown : shown.replaceAll(inBrokenJson, `$1"${redacted}"`)
}

function* readTokens(text: string): Iterable<string> {
  for (let at = 0; at < text.length; ) {
    jsonToken.lastIndex = at
    const token = jsonToken.exec(text)?.[0] ?? text.charAt(at)
    yield token
    at += token.length
  }
}

function skipBlanks(tokens: readonly string[], from: number): number {
  return /^\s/.test(tokens[from] ?? '') ? from + 1 : from
}

function endOfValue(tokens: readonly string[], from: number): number {
  let depth = 0
  for (let index = from; index < tokens.length; index++) {
    const token = tokens[index]
    if (token === '{' || token === '[') depth += 1
    else if (token === '}' || token === ']') depth -= 1
    if (depth <= 0) return index + 1
  }
  return tokens.length
}

/** A text may be JSON itself, or a signed address. */
function redactInside(token: string, depth: number): string {
  if (!token.startsWith('"') || !/[{[?]|\\u/.test(token)) return token
  // Of a text whose end is missing nobody knows what it is.
  if (!isWhole(token) || depth === maxTexts) return `"${redacted}"`
  const text = readString(token)
  const shown = /^\s*[{[]/.test(text)
    ? redactJson(text, depth + 1)
    : /^(?:https?:\/)?\//.test(text)
      ? redactUrl(text)
      : text
  return shown === text ? token : JSON.stringify(shown)
}

function isWhole(token: string): boolean {
  return token.length > 1 && token.endsWith('"') && isJson(token)
}

function readString(token: string): string {
  try {
    return String(JSON.parse(token))
  } catch {
    return token.slice(1)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function redactForm(text: string): string {
  return text.split('&').map(redactField).join('&')
}

function redactField(field: string): string {
  const shown = redactNamed(field)
  // Some write it in the place of the ampersand; then it is part of a value.
  return shown.includes(';') ? shown.replaceAll(inBrokenJson, `$1${redacted}`) : shown
}

function redactNamed(field: string): string {
  const middle = field.indexOf('=')
  if (middle < 0) return field
  const name = field.slice(0, middle + 1)
  if (isSecret.test(decodeForm(field.slice(0, middle)).trim())) return name + redacted
  const value = decodeForm(field.slice(middle + 1))
  if (!/^\s*(?:[{[]|https?:)/.test(value)) return field
  const shown = /^\s*h/.test(value) ? redactUrl(value) : redactJson(value)
  return shown === value ? field : name + encodeURIComponent(shown)
}

/** Of a broken escape only what is broken stays as it stands. */
function decodeForm(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replaceAll(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString())
}

function redactMultipart(text: string, contentType: string): string {
  try {
    const boundary = `--${readBoundary(contentType)}`
    const [before = '', ...parts] = text.split(boundary)
    return [before && redacted, ...parts.map(redactPart)].join(boundary)
  } catch {
    return redacted
  }
}

/** Only the content of a part that is a member, and no secret, is shown. */
function redactPart(part: string): string {
  if (/^--\s*$/.test(part)) return part
  const [head = '', ...rest] = part.split('\r\n\r\n')
  const content = rest.join('\r\n\r\n')
  try {
    const { name } = readPartHead(head.split('\r\n').filter((line) => line !== ''))
    if (!isSecret.test(name) && !/filename/i.test(head)) {
      return `${head}\r\n\r\n${/^\s*[{[]/.test(content) ? redactJson(content) : content}`
    }
  } catch {
    return `\r\n${redacted}`
  }
  return `${head}\r\n\r\n${redacted}\r\n`
}
