/** An attribute of a session description. */
export interface Attribute {
  /** Empty where the attribute has none. */
  readonly value: string
  /** From 1. */
  readonly line: number
}

type Attributes = Map<string, Attribute[]>

/** The first audio section of a session description, with what stands above all sections. */
export class AudioSection {
  /** How many lines the description has. */
  readonly lineCount: number
  /** The payload types of the section. */
  readonly formats: ReadonlySet<string>
  readonly #ofMedia: Attributes = new Map()
  readonly #ofSession: Attributes = new Map()

  constructor(sdp: string) {
    const lines = sdp.replace(/\r?\n$/, '').split(/\r?\n/)
    this.lineCount = lines.length
    let formats: ReadonlySet<string> | undefined
    let attributes: Attributes | undefined = this.#ofSession
    for (const [index, line] of lines.entries()) {
      if (line.startsWith('m=')) {
        const isFirst: boolean = formats === undefined && line.startsWith('m=audio ')
        attributes = isFirst ? this.#ofMedia : undefined
        if (isFirst) formats = new Set(line.split(' ').slice(3))
      } else if (attributes && line.startsWith('a=')) {
        add(attributes, line.slice(2), index + 1)
      }
    }
    this.formats = formats ?? new Set()
  }

  /** The attributes of a name in the section. */
  ofMedia(name: string): readonly Attribute[] {
    return this.#ofMedia.get(name) ?? []
  }

  /** Those above all sections, which hold for this one as well. */
  ofSession(name: string): readonly Attribute[] {
    return this.#ofSession.get(name) ?? []
  }
}

/** Adds an attribute: a name, or a name, a colon and a value. */
function add(attributes: Attributes, text: string, line: number): void {
  const [, name = '', value = ''] = /^([^:]*):?(.*)$/s.exec(text) ?? []
  const known = attributes.get(name)
  const attribute = { value: value.trim(), line }
  if (known) known.push(attribute)
  else attributes.set(name, [attribute])
}
