import { AwsV4Signer } from 'aws4fetch'
import type { Credentials } from './credentials/credentials.ts'

export interface UnsignedRequest {
  readonly method: string
  /** Scheme, host and port. */
  readonly origin: string
  /** Decoded. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** All of them are signed. */
  readonly headers: Readonly<Record<string, string>>
  /** The SHA-256 of the body, in hexadecimal. */
  readonly bodyHash: string
}

export interface SignedRequest {
  /** Path and query as they are sent. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

/** The SHA-256 of no bytes. */
export const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Each day and each renewal of credentials adds a key, so the cache is emptied at this size. */
const maxKeys = 8

/** Signs requests as S3 wants them (AWS Signature Version 4, the hash of the body in a header). */
export class Signer {
  readonly #region: string
  /** Signing keys, which are derived once a day for each secret. */
  readonly #keys = new Map<string, ArrayBuffer>()

  constructor(region: string) {
    this.#region = region
  }

  async sign(request: UnsignedRequest, credentials: Credentials, now: number): Promise<SignedRequest> {
    if (this.#keys.size >= maxKeys) this.#keys.clear()
    const { method, origin, path, query, bodyHash } = request
    const { accessKeyId, secretAccessKey, sessionToken } = credentials
    const signer = new AwsV4Signer({
      method,
      url: `${origin}${path.split('/').map(encodeURIComponent).join('/')}?${new URLSearchParams(query)}`,
      headers: { ...request.headers, 'x-amz-content-sha256': bodyHash },
      ...{ accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
      ...{ service: 's3', region: this.#region, cache: this.#keys },
      datetime: new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, ''),
      allHeaders: true,
    })
    const { headers } = await signer.sign()
    // The text that was signed: some stores compare it with the target as it came, without decoding.
    const { encodedPath, encodedSearch } = signer
    return {
      target: encodedSearch === '' ? encodedPath : `${encodedPath}?${encodedSearch}`,
      headers: Object.fromEntries(headers),
    }
  }
}
