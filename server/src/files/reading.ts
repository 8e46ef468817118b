import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { isMissing } from './durable.ts'
import type { ByteRange } from './file-store.ts'

/** A file as a stream, which closes it at its end; undefined when the file does not exist. `size` is that of the whole. */
export async function openForReading(
  path: string,
  range?: ByteRange,
): Promise<{ stream: Readable; size: number } | undefined> {
  let handle: FileHandle
  try {
    handle = await open(path, 'r')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  try {
    const { size } = await handle.stat()
    return { stream: handle.createReadStream(range), size }
  } catch (error) {
    await handle.close()
    throw error
  }
}
