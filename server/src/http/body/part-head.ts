import { boundaryMissing, partHeadWithoutColon, partWithoutName } from '../errors.ts'

/** What the head of a part says about its content. */
export interface PartHead {
  readonly name: string
  /** The encoding of the content when it is read as text. */
  readonly charset: string
  /** The type of the content without its parameters, in lower case. */
  readonly type: string | undefined
}

/** The longest that RFC 2046 allows. */
const maxBoundaryLength = 70

/** The boundary between parts; throws a 400 when the type has no usable one. */
export function readBoundary(contentType: string): string {
  const boundary = readParameters(contentType).get('boundary') ?? ''
  if (boundary === '' || boundary.length > maxBoundaryLength || !isPrintable(boundary)) {
    throw boundaryMissing({ max: maxBoundaryLength })
  }
  return boundary
}

/** Parses the head of a part. The file name is not needed: the member's name and the content say everything. */
export function readPartHead(lines: readonly string[]): PartHead {
  const headers = new Map<string, string>()
  for (const line of unfold(lines)) {
    const colon = line.indexOf(':')
    if (colon < 1) throw partHeadWithoutColon()
    const name = line.slice(0, colon).toLowerCase()
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  const disposition = headers.get('content-disposition') ?? ''
  const name = /^form-data\s*;/i.test(disposition) ? readParameters(disposition).get('name') : undefined
  if (name === undefined) throw partWithoutName()
  const contentType = headers.get('content-type')
  return {
    name,
    charset:
      readParameters(contentType ?? '')
        .get('charset')
        ?.toLowerCase() ?? 'utf-8',
    type: contentType?.split(';', 1)[0]?.trim().toLowerCase(),
  }
}

/** A line that begins with white space continues the previous one. */
function unfold(lines: readonly string[]): string[] {
  const unfolded: string[] = []
  for (const line of lines) {
    if (/^[ \t]/.test(line) && unfolded.length > 0) unfolded[unfolded.length - 1] += ` ${line.trimStart()}`
    else unfolded.push(line)
  }
  return unfolded
}

/** `form-data; name="a"; filename=b` → name and filename, up to the first malformed one; of repeated names the first counts. */
function readParameters(header: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  const pattern = /;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*(?=;|$)/y
  pattern.lastIndex = Math.max(header.indexOf(';'), 0)
  for (let match = pattern.exec(header); match; match = pattern.exec(header)) {
    const name = (match[1] ?? '').toLowerCase()
    const value = match[2]?.replaceAll(/\\(["\\])/g, '$1') ?? match[3] ?? ''
    if (!parameters.has(name)) parameters.set(name, value)
  }
  return parameters
}

/** Whether a text is all printable ASCII. */
function isPrintable(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x20 || unit > 0x7e) return false
  }
  return true
}
