/** One page of the names of objects. */
export interface Page {
  readonly keys: readonly string[]
  /** What names begin with up to the delimiter. */
  readonly prefixes: readonly string[]
  /** Where the next page begins; undefined: this is the last. */
  readonly next: string | undefined
}

/** Reads the response to ListObjectsV2: a flat document whose values hold no elements. */
export function readPage(xml: string): Page {
  const isLast = readElement(xml, 'IsTruncated')?.trim() !== 'true'
  return {
    keys: readEach(xml, 'Contents', 'Key'),
    prefixes: readEach(xml, 'CommonPrefixes', 'Prefix'),
    next: isLast ? undefined : readElement(xml, 'NextContinuationToken'),
  }
}

/** The code of an error. Its message is left alone: some stores repeat there what was signed. */
export function readErrorCode(xml: string): string | undefined {
  const code = readElement(xml, 'Code')
  return code !== undefined && /^\w{1,80}$/.test(code) ? code : undefined
}

/** The value of an element in each of those around it. */
function readEach(xml: string, around: string, name: string): string[] {
  return xml
    .split(`<${around}>`)
    .slice(1)
    .map((part) => readElement(part, name) ?? '')
}

/** The first element of that name. */
export function readElement(xml: string, name: string): string | undefined {
  const begin = xml.indexOf(`<${name}>`)
  const end = xml.indexOf(`</${name}>`, begin)
  return begin === -1 || end === -1 ? undefined : decode(xml.slice(begin + name.length + 2, end))
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decode(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hexadecimal, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
    if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16))
    return entities[name] ?? whole
  })
}
