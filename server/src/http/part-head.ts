import { boundaryMissing, partHeadWithoutColon, partWithoutName } from './errors.ts'

/** What the head of a part says about its content. */
export interface PartHead {
  readonly name: string
  /** As which encoding the content is read where it is text. */
  readonly charset: string
}

/** The longest that RFC 2046 allows. */
const maxBoundaryLength = 70

/** The delimiter of the parts; throws the 400 where the type does not name one that can be used. */
export function readBoundary(contentType: string): string {
  const boundary = readParameters(contentType).get('boundary') ?? ''
  if (boundary === '' || boundary.length > maxBoundaryLength || !isPrintable(boundary)) {
    throw boundaryMissing({ max: maxBoundaryLength })
  }
  return boundary
}

/** Reads the head of a part from its lines. A file name is not asked for: the name and the content say everything. */
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
  return {
    name,
    charset:
      readParameters(headers.get('content-type') ?? '')
        .get('charset')
        ?.toLowerCase() ?? 'utf-8',
  }
}

/** A line that begins with blank space goes on with the one before it. */
function unfold(lines: readonly string[]): string[] {
  const unfolded: string[] = []
  for (const line of lines) {
    if (/^[ \t]/.test(line) && unfolded.length > 0) unfolded[unfolded.length - 1] += ` ${line.trimStart()}`
    else unfolded.push(line)
  }
  return unfolded
}

/** `form-data; name="a"; filename=b` → name and filename, up to the first that is malformed; the first of a name counts. */
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

/** Whether a text holds nothing but printable ASCII. */
function isPrintable(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x20 || unit > 0x7e) return false
  }
  return true
}
