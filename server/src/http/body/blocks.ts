const blockBytes = 65_536

/**
 * Collects bytes in one reused block of memory, so that they are written in few steps however small the chunks are. A block is
 * valid until the next one is asked for.
 */
export async function* inBlocks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const block = Buffer.allocUnsafeSlow(blockBytes)
  let filled = 0
  for await (const piece of pieces) {
    for (let done = 0; done < piece.length; ) {
      const some = piece.subarray(done, done + blockBytes - filled)
      block.set(some, filled)
      filled += some.length
      done += some.length
      if (filled === blockBytes) {
        yield block
        filled = 0
      }
    }
  }
  if (filled > 0) yield block.subarray(0, filled)
}

/**
 * Releases a chunk's memory at once, if the chunk owns it: the garbage collector lets 64 MB of such chunks pile up first. Only the
 * last user of the chunk may call this.
 */
export function release({ buffer, length }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}
