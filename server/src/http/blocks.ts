const blockBytes = 65_536

/**
 * Gathers bytes in one block of memory that is used again and again, so that what writes them does so in few steps however
 * small the pieces come. A block is good until the next one is asked for.
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
 * Releases the memory of a chunk, where it is the chunk's own, without waiting for the garbage collector: that lets 64 MB of
 * such chunks pile up before it begins. Only for whoever is the last to hold the chunk.
 */
export function release({ buffer, length }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}
