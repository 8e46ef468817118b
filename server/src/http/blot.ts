import type { IncomingHttpHeaders } from 'node:http'

const blot = '…'
const secretHeaders = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-hub-signature-256',
  'webhook-signature',
])
/** Members of bodies and parameters of queries whose values nobody but their owner may see. */
const secretNames =
  'access_token|token|verify_token|secret|client_secret|app_secret|pin|code|password|certificate|hub\\.verify_token|appsecret_proof|signature'
const inJson = new RegExp(`("(?:${secretNames})"\\s*:\\s*)(?:"(?:[^"\\\\]|\\\\.)*"?|[-\\d.]+)`, 'gi')
const inForm = new RegExp(`((?:^|[?&\\s])(?:${secretNames})=)[^&\\s]*`, 'gi')

/** Replaces the values of secrets in a body: JSON, or a form. */
export function blotText(text: string): string {
  return text.replaceAll(inJson, `$1"${blot}"`).replaceAll(inForm, `$1${blot}`)
}

export function blotUrl(url: string): string {
  return url.includes('?') ? url.replaceAll(inForm, `$1${blot}`) : url
}

export function blotHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    shown[name] = secretHeaders.has(name) ? blot : Array.isArray(value) ? value.join(', ') : value
  }
  return shown
}
