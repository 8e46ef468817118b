const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openArray = 0x5b
const backslash = 0x5c
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/** Longer than any name or id that is searched. */
const maxText = 64
/** The depth of the members: of the envelope, and of an entry in it. */
const inEnvelope = 1
const inEntry = 3

/**
 * Finds the first `entry[].id` of an envelope while its bytes arrive, without parsing them into objects: they are a stranger's, and a few
 * megabytes of JSON can be hundreds as objects. The result is only a hint: this scanner does not know JSON well enough to be trusted.
 */
export class FirstAccountFinder {
  #found: string | undefined
  #depth = 0
  #isInEntries = false
  /** Whether the next text is the name of a member. */
  #expectsName = false
  #name = ''
  #isInText = false
  #isEscaped = false
  readonly #text = Buffer.allocUnsafe(maxText)
  #textLength = 0

  /** The id, once it has arrived. */
  get found(): string | undefined {
    return this.#found
  }

  read(bytes: Buffer): void {
    for (let index = 0; index < bytes.length && this.#found === undefined; index++) {
      const byte = bytes[index] as number
      if (this.#isInText) this.#readText(byte)
      else this.#readSign(byte)
    }
  }

  #readText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === quote) {
      this.#isInText = false
      this.#endText()
      return
    }
    if (this.#textLength < maxText) this.#text[this.#textLength++] = byte
  }

  #endText(): void {
    const isMember = this.#depth === inEnvelope || (this.#depth === inEntry && this.#isInEntries)
    if (!isMember) return
    if (this.#expectsName) this.#name = this.#text.toString('latin1', 0, this.#textLength)
    else if (this.#depth === inEntry && this.#name === 'id')
      this.#found = this.#text.toString('latin1', 0, this.#textLength)
  }

  #readSign(byte: number): void {
    switch (byte) {
      case quote:
        this.#isInText = true
        this.#textLength = 0
        return
      case colon:
        this.#expectsName = false
        return
      case comma:
        this.#expectsName = true
        return
      case openObject:
      case openArray:
        if (this.#depth === inEnvelope) this.#isInEntries = byte === openArray && this.#name === 'entry'
        this.#depth += 1
        this.#expectsName = byte === openObject
        return
      case closeObject:
      case closeArray:
        this.#depth -= 1
    }
  }
}
