const blockBytes = 65_536

/**
 * Hands on bytes in a few blocks of memory that are used again and again, instead of in ever new ones that stay until the
 * garbage is collected. A block is good until the next one is asked for.
 */
export class BlockQueue implements AsyncIterable<Uint8Array> {
  #filling: Buffer = Buffer.allocUnsafeSlow(blockBytes)
  #filled = 0
  #appended = 0
  readonly #waiting: Buffer[] = []
  readonly #free: Buffer[] = []
  #ending: { readonly error: unknown } | 'end' | 'given up' | undefined
  #wakeReader = () => {}
  #wakeWriter = () => {}

  /** How many bytes have come. */
  get appended(): number {
    return this.#appended
  }

  /** Copies bytes into the blocks; the caller may do with them what it likes after that. */
  append(bytes: Uint8Array): void {
    if (this.#ending) return
    this.#appended += bytes.length
    for (let done = 0; done < bytes.length; ) {
      const piece = bytes.subarray(done, done + blockBytes - this.#filled)
      this.#filling.set(piece, this.#filled)
      this.#filled += piece.length
      done += piece.length
      if (this.#filled === blockBytes) {
        this.#waiting.push(this.#filling)
        this.#filling = this.#free.pop() ?? Buffer.allocUnsafeSlow(blockBytes)
        this.#filled = 0
        this.#wakeReader()
      }
    }
  }

  /** Resolves when no full block waits: who appends more before that makes the queue longer. */
  async waitForRoom(): Promise<void> {
    while (this.#waiting.length > 0 && this.#ending !== 'given up') {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve
      })
    }
  }

  end(): void {
    this.#ending ??= 'end'
    this.#wakeReader()
  }

  /** Lets whoever reads fail with this error. */
  fail(error: unknown): void {
    this.#ending ??= { error }
    this.#wakeReader()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        if (typeof this.#ending === 'object') throw this.#ending.error
        const block = this.#waiting.shift()
        if (block) {
          yield block
          this.#free.push(block)
          this.#wakeWriter()
        } else if (this.#ending) {
          if (this.#filled > 0) yield this.#filling.subarray(0, this.#filled)
          return
        } else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve
          })
        }
      }
    } finally {
      this.#ending = 'given up'
      this.#wakeWriter()
    }
  }
}

/** Gives back the memory of a chunk that nobody needs any more, where it is the chunk's own, without waiting for the collector. */
export function giveBack({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}
