/** An attribute of a session description. */
export interface Attribute {
  /** Empty where the attribute has none. */
  readonly value: string
  /** From 1. */
  readonly line: number
}

/** The first audio section of a session description, with what stands above all sections. */
export class AudioSection {
  /** How many lines the description has. */
  readonly lineCount: number
  readonly #lines: readonly string[]
  readonly #firstMedia: number
  readonly #start: number
  readonly #end: number

  constructor(sdp: string) {
    this.#lines = sdp.replace(/\r?\n$/, '').split(/\r?\n/)
    this.lineCount = this.#lines.length
    const isMedia = (line: string) => line.startsWith('m=')
    this.#firstMedia = this.#lines.findIndex(isMedia)
    this.#start = this.#lines.findIndex((line) => line.startsWith('m=audio '))
    const next = this.#lines.findIndex((line, index) => index > this.#start && isMedia(line))
    this.#end = next < 0 ? this.#lines.length : next
  }

  /** The payload types of the section. */
  get formats(): readonly string[] {
    return this.#lines[this.#start]?.split(' ').slice(3) ?? []
  }

  /** The attributes of a name in the section. */
  ofMedia(name: string): Attribute[] {
    return this.#find(name, this.#start, this.#end)
  }

  /** Those above all sections, which hold for this one as well. */
  ofSession(name: string): Attribute[] {
    return this.#find(name, 0, this.#firstMedia)
  }

  #find(name: string, from: number, to: number): Attribute[] {
    return this.#lines.slice(from, to).flatMap((text, index) => {
      const line = from + index + 1
      if (text === `a=${name}`) return [{ value: '', line }]
      return text.startsWith(`a=${name}:`) ? [{ value: text.slice(name.length + 3).trim(), line }] : []
    })
  }
}
