/**
 * Gathers bytes that come in pieces in one piece of memory. A list of the pieces would take what the sender likes: each buffer
 * costs some 250 bytes besides what it holds, which may be a single one.
 */
export class Gatherer {
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The first piece is kept as it is, so that what comes in one go is not copied. */
  append(piece: Buffer): void {
    if (this.#length === 0) {
      this.#bytes = piece
    } else {
      const needed = this.#length + piece.length
      // Twice as much each time, so that all the copying together is linear. This also leaves the first piece untouched.
      if (needed > this.#bytes.length) {
        const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length))
        this.#bytes.copy(larger, 0, 0, this.#length)
        this.#bytes = larger
      }
      piece.copy(this.#bytes, this.#length)
    }
    this.#length += piece.length
  }

  /** What was gathered, in one piece; after that it begins anew. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
    return taken
  }
}
