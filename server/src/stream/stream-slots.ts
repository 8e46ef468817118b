/** Who holds a slot. */
export interface Holder {
  readonly token_id: string
  /** Whether it sees only some of the tenants. */
  readonly isLimited: boolean
}

/**
 * The slots of the streams of one process. Whoever sees only some tenants cannot take them all: a token gets a tenth, and all
 * such tokens together leave a quarter to those who run the service.
 */
export class StreamSlots {
  readonly #most: number
  readonly #byLimited = new Map<string, number>()
  #taken = 0
  #takenByLimited = 0

  constructor(most: number) {
    this.#most = most
  }

  get taken(): number {
    return this.#taken
  }

  /** What frees the slot again, once however often it is called; undefined when there is none. */
  take(holder: Holder): (() => void) | undefined {
    if (this.#taken >= this.#most || (holder.isLimited && !this.#hasShare(holder))) return undefined
    this.#count(holder, 1)
    let isFree = false
    return () => {
      if (!isFree) this.#count(holder, -1)
      isFree = true
    }
  }

  #hasShare({ token_id }: Holder): boolean {
    return (
      this.#takenByLimited < Math.ceil(this.#most * 0.75) &&
      (this.#byLimited.get(token_id) ?? 0) < Math.ceil(this.#most * 0.1)
    )
  }

  #count({ token_id, isLimited }: Holder, by: 1 | -1): void {
    this.#taken += by
    if (!isLimited) return
    this.#takenByLimited += by
    const own = (this.#byLimited.get(token_id) ?? 0) + by
    if (own === 0) this.#byLimited.delete(token_id)
    else this.#byLimited.set(token_id, own)
  }
}
