import type { Readable } from 'node:stream'
import { Gatherer } from '../../base/gatherer.ts'

/** As much is put together before it is written: each piece costs a sync of the disk. */
const batchBytes = 262_144
/** With as much unwritten, the sender has to wait. */
const maxQueuedBytes = 1_048_576
/** A slow sender's bytes are written after so long, however few they are: a connection that dies in silence does not tell. */
const maxDelayMilliseconds = 500

/**
 * Reads a stream as it comes and hands on what has arrived, batch by batch, each when the one before was taken. When the stream
 * breaks, what arrived until then is handed on all the same. The answer tells which it was.
 */
export async function readInBatches(
  stream: Readable,
  take: (batch: Buffer) => Promise<void>,
): Promise<'whole' | 'broken'> {
  const queue = new Gatherer()
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
