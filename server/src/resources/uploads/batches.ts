import type { Readable } from 'node:stream'
import { ChunkBuffer } from '../../base/work/chunk-buffer.ts'

/** The size of a batch before it is written: each piece costs a sync of the disk. */
const batchBytes = 262_144
/** With this much unwritten, the sender has to wait. */
const maxQueuedBytes = 1_048_576
/** A slow sender's bytes are written after this time, however few: a connection that dies silently gives no notice. */
const maxDelayMilliseconds = 500

/**
 * Reads a stream and passes on what has arrived, batch by batch, each after the previous was taken. When the stream breaks, the bytes
 * that arrived are still passed on. The result says whether it broke.
 */
export async function readInBatches(
  stream: Readable,
  take: (batch: Buffer) => Promise<void>,
): Promise<'whole' | 'broken'> {
  const queue = new ChunkBuffer()
  let isDue = false
  let ending: 'whole' | 'broken' | undefined = stream.destroyed && !stream.readableEnded ? 'broken' : undefined
  let delay: NodeJS.Timeout | undefined
  let wake = () => {}

  const onData = (chunk: Buffer) => {
    if (queue.length === 0) {
      delay = setTimeout(() => {
        isDue = true
        wake()
      }, maxDelayMilliseconds)
    }
    queue.append(chunk)
    if (queue.length >= maxQueuedBytes) stream.pause()
    wake()
  }
  const onEnd = () => {
    ending ??= 'whole'
    wake()
  }
  const onBreak = () => {
    ending ??= 'broken'
    wake()
  }
  stream.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak)

  try {
    for (;;) {
      if (queue.length >= batchBytes || (queue.length > 0 && (isDue || ending))) {
        clearTimeout(delay)
        isDue = false
        const batch = queue.take()
        stream.resume()
        await take(batch)
      } else if (ending) {
        return ending
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    clearTimeout(delay)
    stream.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak)
  }
}
