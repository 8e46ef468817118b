import { BadSetting } from '../../base/setting-parsers.ts'
import { cutTrailingSlashes } from '../../base/text/slashes.ts'

/** Where the objects of an S3-compatible store are. */
export interface ObjectLocation {
  /** Scheme, host and port. */
  readonly origin: string
  /** What the path of every request begins with: empty, or `/bucket`. */
  readonly root: string
  readonly bucket: string
  /** What every key begins with: empty, or ends with a slash. */
  readonly prefix: string
  readonly region: string
}

const bucketPattern = /^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/
const prefixPattern = /^[\w.-]+(\/[\w.-]+)*$/
const regionPattern = /^[a-z\d-]{1,40}$/
const form = 's3://bucket/prefix?endpoint=https://storage.example.com&region=eu-central-1'

/** Reads `s3://bucket/prefix?endpoint=…&region=…`; without an endpoint it is that of Amazon. */
export function parseObjectLocation(text: string): ObjectLocation {
  const url = URL.parse(text)
  if (url?.protocol !== 's3:') throw new BadSetting(`a URL such as ${form}`)
  if (url.username || url.password) {
    throw new BadSetting('a URL without credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  }
  const bucket = url.host
  if (!bucketPattern.test(bucket)) throw new BadSetting(`a URL that begins with s3:// and a bucket, such as ${form}`)
  const path = cutTrailingSlashes(url.pathname).slice(1)
  if (path !== '' && !prefixPattern.test(path)) {
    throw new BadSetting('a URL whose prefix has letters, digits, dots, hyphens, underscores and slashes alone')
  }
  for (const name of url.searchParams.keys()) {
    if (name !== 'endpoint' && name !== 'region')
      throw new BadSetting('a URL with no parameters but endpoint and region')
  }
  const region = url.searchParams.get('region') ?? 'us-east-1'
  if (!regionPattern.test(region)) throw new BadSetting(`a URL with a region such as eu-central-1: ${form}`)
  const prefix = path === '' ? '' : `${path}/`
  const endpoint = url.searchParams.get('endpoint')
  if (endpoint === null) {
    // A bucket with a dot has no certificate for its own host name.
    const host = `s3.${region}.amazonaws.com`
    return bucket.includes('.')
      ? { origin: `https://${host}`, root: `/${bucket}`, bucket, prefix, region }
      : { origin: `https://${bucket}.${host}`, root: '', bucket, prefix, region }
  }
  const at = URL.parse(endpoint)
  const isPlain = at && /^https?:$/.test(at.protocol) && at.pathname === '/' && !at.search && !at.hash && !at.username
  if (!isPlain) {
    throw new BadSetting(`a URL whose endpoint is a scheme, a host and a port, such as http://127.0.0.1:9000: ${form}`)
  }
  return { origin: at.origin, root: `/${bucket}`, bucket, prefix, region }
}
