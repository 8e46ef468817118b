import { createHash, createHmac } from 'node:crypto'

/** Who signs. Never logged. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
}

export interface UnsignedRequest {
  readonly method: string
  readonly host: string
  /** Decoded. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** In lower case. All of them are signed. */
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

const algorithm = 'AWS4-HMAC-SHA256'

/** Signs a request as S3 wants it (AWS Signature Version 4, the hash of the body in a header). */
export function signRequest(
  request: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: Credentials,
  { region, now }: { readonly region: string; readonly now: number },
): SignedRequest {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.host,
    'x-amz-content-sha256': request.bodyHash,
    'x-amz-date': time,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  }
  const names = Object.keys(headers).sort()
  const path = request.path.split('/').map(encode).join('/')
  const query = writeQuery(request.query)
  const canonical = [
    request.method,
    path,
    query,
    ...names.map((name) => `${name}:${(headers[name] as string).trim()}`),
    '',
    names.join(';'),
    request.bodyHash,
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = [algorithm, time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${secretAccessKey}`,
  )
  const signature = createHmac('sha256', key).update(text).digest('hex')
  return {
    target: query === '' ? path : `${path}?${query}`,
    headers: {
      ...headers,
      authorization: `${algorithm} Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
    },
  }
}

function writeQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
}

/** As RFC 3986 has it: `encodeURIComponent` leaves five characters that must be encoded as well. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}
