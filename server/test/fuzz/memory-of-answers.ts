/** How many values are kept under one name: enough to meet what was made a while ago, too few to grow. */
const kept = 40
const nodeId = /^[1-9]\d{14,15}$|^upload:/

/** The address of a page or a picture: its last part identifies what it opens. */
const link = /^http:\/\/[^/]+\/(\w+)\/([\w.-]+)$/

/** Values from responses so far: ids, codes, cursors, by the name of their member. Later requests use them. */
export class MemoryOfAnswers {
  readonly #byName = new Map<string, (string | number)[]>()

  recall(name: string): readonly (string | number)[] {
    return this.#byName.get(name) ?? []
  }

  /** The ids that answers of a chapter held. */
  idsOf(tag: string): readonly string[] {
    return this.recall(`${tag}/id`).map(String)
  }

  learn(tag: string, body: unknown): void {
    if (Array.isArray(body)) for (const item of body.slice(0, kept)) this.learn(tag, item)
    else if (typeof body === 'object' && body !== null) {
      for (const [name, value] of Object.entries(body)) this.#learnMember(tag, name, value)
    }
  }

  #learnMember(tag: string, name: string, value: unknown): void {
    if (typeof value !== 'string' && typeof value !== 'number') {
      this.learn(tag, value)
      return
    }
    this.#remember(name, value)
    const [, door, last] = link.exec(String(value)) ?? []
    if (door !== undefined && last !== undefined) this.#remember(`/${door}/`, last)
    if (nodeId.test(String(value))) this.#remember(`${tag}/id`, value)
  }

  #remember(name: string, value: string | number): void {
    const values = this.#byName.get(name) ?? []
    if (values.includes(value)) return
    if (values.length >= kept) values.shift()
    this.#byName.set(name, [...values, value])
  }
}
