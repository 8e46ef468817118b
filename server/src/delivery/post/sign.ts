import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto'
import { minute, second } from '../../base/time/duration.ts'
import type { Secrets } from '../store/signing-secrets.ts'

const secretPrefix = 'whsec_'
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/
const hubSignature = /^sha256=([0-9a-f]{64})$/i
const digestBytes = 32
/** Full stops are excluded: with them, one signed text could be read as another id, time and body. */
const webhookId = /^[\w-]+$/
/** How far the clocks of sender and receiver may differ. */
export const clockTolerance = 5 * minute

/** The value of `X-Hub-Signature-256`. It holds one signature, made with the newest secret. */
export function signHub(body: Buffer, secrets: Secrets): string {
  return `sha256=${digest(newest(secrets), 'hex', body)}`
}

export function verifyHub(header: string, body: Buffer, secrets: Secrets): boolean {
  const signature = readHubSignature(header)
  if (!signature) return false
  const verifier = new HubVerifier(secrets)
  verifier.update(body)
  return verifier.matches(signature)
}

/** The hash in a signature; undefined when it is malformed. */
export function readHubSignature(header: string): Buffer | undefined {
  const given = hubSignature.exec(header)?.[1]
  return given === undefined ? undefined : Buffer.from(given, 'hex')
}

/** Hashes a body with several secrets as it arrives. */
export class HubVerifier {
  readonly #hashes: readonly Hmac[]

  constructor(secrets: Secrets) {
    this.#hashes = usable(secrets).map((secret) => createHmac('sha256', secret))
  }

  /** How many times each byte is hashed. */
  get size(): number {
    return this.#hashes.length
  }

  update(bytes: Buffer): void {
    for (const hash of this.#hashes) hash.update(bytes)
  }

  /** Whether one of the secrets signed the whole body. Can be called once. */
  matches(signature: Buffer): boolean {
    return matchesAny(
      [signature],
      this.#hashes.map((hash) => hash.digest()),
    )
  }
}

export interface StandardHeaders {
  readonly 'webhook-id': string
  /** Unix seconds of the attempt. */
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** The headers of the Standard Webhooks convention, with a signature by each secret. */
export function signStandard(id: string, now: number, body: Buffer, secrets: Secrets): StandardHeaders {
  if (!webhookId.test(id)) throw new Error('a webhook id is made of letters, digits, _ and -')
  newest(secrets)
  const timestamp = String(Math.floor(now / second))
  const signatures = usable(secrets).map((secret) => digestStandard(id, timestamp, body, secret))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.map((signature) => `v1,${signature}`).join(' '),
  }
}

export function verifyStandard(headers: StandardHeaders, now: number, body: Buffer, secrets: Secrets): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers
  if (!webhookId.test(id) || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now - Number(timestamp) * second) > clockTolerance) return false
  // Other versions, such as v1a, are signatures of another kind and are ignored.
  const given = signature
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice(3), 'base64'))
  return matchesAny(
    given,
    usable(secrets).map((secret) => Buffer.from(digestStandard(id, timestamp, body, secret), 'base64')),
  )
}

/** By the convention a secret is `whsec_` and base64 of the key. Any other text is the key itself. */
export function readKey(secret: string): Buffer {
  const key = keyOf(secret)
  return typeof key === 'string' ? Buffer.from(key) : key
}

/** A text key stays text, because the runtime takes six times as long over the same bytes. */
function keyOf(secret: string): Buffer | string {
  const encoded = secret.slice(secretPrefix.length)
  return secret.startsWith(secretPrefix) && base64.test(encoded) ? Buffer.from(encoded, 'base64') : secret
}

/** In base64. */
function digestStandard(id: string, timestamp: string, body: Buffer, secret: string): string {
  return digest(keyOf(secret), 'base64', Buffer.from(`${id}.${timestamp}.`), body)
}

/** Hashes are taken as text, because the runtime takes three times as long to make a `Buffer` of one. */
function digest(key: Buffer | string, encoding: 'hex' | 'base64', ...parts: readonly Buffer[]): string {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest(encoding)
}

function newest(secrets: Secrets): string {
  const secret = secrets[0]
  if (!secret) throw new Error('there is no secret to sign with')
  return secret
}

function usable(secrets: Secrets): string[] {
  return secrets.filter((secret) => secret !== '')
}

/** Compares every pair to the end, so that the time reveals nothing. */
function matchesAny(given: readonly Buffer[], expected: readonly Buffer[]): boolean {
  let matched = false
  for (const one of given) {
    if (one.length !== digestBytes) continue
    for (const other of expected) matched = timingSafeEqual(one, other) || matched
  }
  return matched
}
