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
  const next = /<IsTruncated>\s*true\s*<\/IsTruncated>/.test(xml)
    ? readElement(xml, 'NextContinuationToken')
    : undefined
  return {
    keys: [...xml.matchAll(/<Contents>.*?<Key>([^<]*)<\/Key>/gs)].map(([, key]) => decode(key as string)),
    prefixes: [...xml.matchAll(/<CommonPrefixes>\s*<Prefix>([^<]*)<\/Prefix>/g)].map(([, one]) =>
      decode(one as string),
    ),
    next,
  }
}

/** The code of an error. Its message is left alone: some stores repeat there what was signed. */
export function readErrorCode(xml: string): string | undefined {
  const code = readElement(xml, 'Code')
  return code !== undefined && /^\w{1,80}$/.test(code) ? code : undefined
}

function readElement(xml: string, name: string): string | undefined {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return found === undefined ? undefined : decode(found)
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decode(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hexadecimal, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
    if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16))
    return entities[name] ?? whole
  })
}
