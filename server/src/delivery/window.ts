/** How many posts may be under way, found by trying: more while answers come well, half when they do not. */
export class Window {
  readonly #smallest: number
  readonly #largest: number
  #size: number
  /** Up to here every good answer adds one; above it a round trip does. */
  #threshold: number
  #started = 0
  /** Posts up to this one were under way when the window was cut: what becomes of them is known already. */
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

  /** `underWay` counts the post that ended: a window that is not used says nothing about a larger one. */
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
