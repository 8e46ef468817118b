/** What shows that whoever sends a token also knows its app's secret: HMAC-SHA256 of the token with the secret, in hexadecimal. */
export async function proveSecret(secret: string, token: string): Promise<string> {
  const encode = (text: string) => new TextEncoder().encode(text)
  const { subtle } = crypto
  const key = await subtle.importKey('raw', encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const bytes = new Uint8Array(await subtle.sign('HMAC', key, encode(token)))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
