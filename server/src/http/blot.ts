const blot = '…'
const secretHeaders = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-hub-signature-256',
  'webhook-signature',
  'x-console-code',
  'x-console-proof',
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

/** Headers as they came: names and values in turn. */
export function blotHeaders(raw: readonly string[]): Record<string, string> {
  const shown: Record<string, string> = {}
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = String(raw[index]).toLowerCase()
    const value = secretHeaders.has(name) ? blot : String(raw[index + 1])
    shown[name] = shown[name] === undefined ? value : `${shown[name]}, ${value}`
  }
  return shown
}
