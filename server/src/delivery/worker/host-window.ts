/** How many posts may be under way, adapted to the subscriber: more while responses succeed, half when they fail. */
export class Window {
  readonly #smallest: number
  readonly #largest: number
  #size: number
  /** Up to here every success adds one; above it a full round trip does. */
  #threshold: number
  #started = 0
  /** Posts up to this number were under way when the window was cut: their failures are already counted. */
  #cutAt = 0

  constructor({ initial, smallest = 1, largest }: { initial: number; smallest?: number; largest: number }) {
    this.#smallest = Math.min(smallest, largest)
    this.#largest = largest
    this.#size = Math.min(initial, largest)
    this.#threshold = largest
  }

  get size(): number {
    return Math.floor(this.#size)
  }

  /** Numbers a post that begins. */
  start(): number {
    this.#started += 1
    return this.#started
  }

  /** `underWay` includes the post that ended: a window that is not full is no reason to grow. */
  grow(underWay: number): void {
    if (2 * underWay < this.size) return
    this.#size = Math.min(this.#largest, this.#size + (this.#size < this.#threshold ? 1 : 1 / this.#size))
  }

  /** Once for all posts that were under way together. */
  cut(post: number): void {
    if (post <= this.#cutAt) return
    this.#cutAt = this.#started
    this.#size = Math.max(this.#smallest, this.size / 2)
    this.#threshold = this.#size
  }
}
