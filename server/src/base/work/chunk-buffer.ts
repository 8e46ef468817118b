const nothing = Buffer.alloc(0)

/**
 * Collects chunks of bytes in one block of memory. A list of chunks would let the sender decide the cost: each buffer takes some 250
 * bytes besides its content, which may be a single byte.
 */
export class ChunkBuffer {
  #bytes: Buffer = nothing
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The first chunk is kept as it is, so that a single chunk is not copied. */
  append(chunk: Buffer): void {
    if (this.#length === 0) {
      this.#bytes = chunk
    } else {
      const needed = this.#length + chunk.length
      // Doubles each time, so that the total copying is linear. The first chunk stays untouched.
      if (needed > this.#bytes.length) {
        const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length))
        this.#bytes.copy(larger, 0, 0, this.#length)
        this.#bytes = larger
      }
      chunk.copy(this.#bytes, this.#length)
    }
    this.#length += chunk.length
  }

  /** Returns the collected bytes in one block, and starts again. */
  take(): Buffer {
    const taken = this.#length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#length)
    this.#bytes = nothing
    this.#length = 0
    return taken
  }
}
