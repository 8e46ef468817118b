import { WebhookVerificationError } from './errors.ts'

/** What was posted, byte for byte. A text is taken as UTF-8. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** Headers of any library: names in any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** How far the timestamp of a post may be from the time here, in seconds; 300 when left out. */
  readonly tolerance?: number | undefined
  /**
   * False: also takes posts that have `X-Hub-Signature-256` alone, as of another sender. It covers no time, so whoever has seen such a
   * post can send it again. Switchboard always signs with the time, too.
   */
  readonly requireTimestamp?: boolean | undefined
}

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Checks both signatures: `X-Hub-Signature-256` of the platform if it is there, and those of Standard Webhooks, which cover the time as
 * well. During a rotation there are several secrets; one of them has to fit. Returns the bytes.
 */
export async function verifyWebhook(
  rawBody: RawBody,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { tolerance = 300, requireTimestamp = true }: VerifyOptions = {},
): Promise<Uint8Array> {
  const body = toBytes(rawBody)
  const secrets = (typeof secret === 'string' ? [secret] : [...(secret ?? [])]).filter(Boolean)
  if (secrets.length === 0) throw new WebhookVerificationError('secret_missing')
  const encoding = readHeader(headers, 'content-encoding')
  if (encoding !== undefined && encoding !== 'identity') throw new WebhookVerificationError('body_encoded', encoding)
  const hub = readHeader(headers, 'x-hub-signature-256')
  const standard = readHeader(headers, 'webhook-signature')
  if (hub !== undefined) await checkHub(hub, body, secrets)
  if (standard !== undefined) await checkStandard(standard, headers, body, secrets, tolerance)
  else if (hub === undefined || requireTimestamp) {
    const detail =
      hub &&
      'X-Hub-Signature-256 alone says nothing of the time; of another sender it is taken with requireTimestamp: false'
    throw new WebhookVerificationError('signature_missing', detail)
  }
  return body
}

async function checkHub(header: string, body: Bytes, secrets: readonly string[]): Promise<void> {
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(header)?.[1]
  if (hex === undefined) throw new WebhookVerificationError('signature_wrong', 'X-Hub-Signature-256 is not sha256=…')
  const given = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  // The platform's key is the secret as text, whatever it looks like.
  const keys = secrets.map((secret) => new TextEncoder().encode(secret))
  if (!(await isSignedByAny([given], body, keys))) {
    throw new WebhookVerificationError('signature_wrong', 'X-Hub-Signature-256')
  }
}

async function checkStandard(
  header: string,
  headers: WebhookHeaders,
  body: Bytes,
  secrets: readonly string[],
  tolerance: number,
): Promise<void> {
  const id = readHeader(headers, 'webhook-id') ?? ''
  const timestamp = readHeader(headers, 'webhook-timestamp') ?? ''
  if (!/^[\w-]+$/.test(id) || !/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError('signature_wrong', 'webhook-id or webhook-timestamp is missing')
  }
  const signed = join(new TextEncoder().encode(`${id}.${timestamp}.`), body)
  // Other versions, such as v1a, are signatures of another kind.
  const given = header
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .flatMap((one) => decodeBase64(one.slice(3)) ?? [])
  if (!(await isSignedByAny(given, signed, secrets.map(readKey)))) {
    throw new WebhookVerificationError('signature_wrong', 'webhook-signature')
  }
  const age = Math.round(Date.now() / 1000) - Number(timestamp)
  if (Math.abs(age) > tolerance) {
    throw new WebhookVerificationError('timestamp_old', `${age} s, ${tolerance} s are allowed`)
  }
}

/** By the convention a secret is `whsec_` and base64 of the key. Any other text is the key itself. */
function readKey(secret: string): Bytes {
  const encoded = secret.startsWith('whsec_') ? secret.slice(6) : ''
  const isBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(encoded)
  return (isBase64 && decodeBase64(encoded)) || new TextEncoder().encode(secret)
}

/** WebCrypto compares in constant time. */
async function isSignedByAny(signatures: readonly Bytes[], body: Bytes, keys: readonly Bytes[]): Promise<boolean> {
  let isSigned = false
  for (const key of keys) {
    const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const signature of signatures) {
      isSigned = (await crypto.subtle.verify('HMAC', imported, signature, body)) || isSigned
    }
  }
  return isSigned
}

function toBytes(body: RawBody): Bytes {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  // By what they are, not by their class: test runners and frames have classes of their own.
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength)
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body)
  throw new WebhookVerificationError('body_parsed')
}

/** The value of a header; of several the first. */
export function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers?.get === 'function') return headers.get(name) ?? undefined
  const found = Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'string' || found === undefined ? found : found[0]
}

function decodeBase64(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  } catch {
    return undefined
  }
}

function join(one: Bytes, other: Bytes): Bytes {
  const joined = new Uint8Array(one.length + other.length)
  joined.set(one)
  joined.set(other, one.length)
  return joined
}
