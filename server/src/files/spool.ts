import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Random } from '../base/keys/random.ts'
import { hasEnded, nameOwnRun } from '../base/process-run.ts'
import type { Clock } from '../base/time/clock.ts'
import { day, hour } from '../base/time/duration.ts'
import { checkDisk } from './disk-reserve.ts'
import { makeFolder } from './durable.ts'
import type { StoredFile } from './file-store.ts'

/** No upload takes that long: an older file belonged to a process that died, on whatever machine. */
const oldestIncoming = day
/** How often to check for such files, besides at the start. */
const checkInterval = hour
/** More than a socket takes at once, so that whoever writes a chunk waits until it is sent. */
const chunkBytes = 131_072

/** A blob that is complete on the local disk, under a name of its own. */
interface SpooledFile extends StoredFile {
  readonly path: string
  /** Reads some bytes; fewer than asked for at its end. */
  read(position: number, length: number): Promise<Buffer>
  /** All of it from its beginning; may be called again. A chunk is valid until the next but one: its memory is used again. */
  chunks(): AsyncGenerator<Uint8Array>
  /** Removes it; does nothing when it is gone or was moved. */
  discard(): Promise<void>
  /** Ends the spool's hold on a file that the caller has moved. */
  release(): Promise<void>
}

/** Where blobs arrive, on the local disk, because their hash and their kind are known only at their end. */
export interface Spool {
  receive(source: AsyncIterable<Uint8Array>): Promise<SpooledFile>
}

export async function openSpool(folder: string, clock: Clock, random: Random, reserve?: number): Promise<Spool> {
  await makeFolder(folder)
  await removeAbandoned(folder, clock)
  const ownRun = nameOwnRun()
  let nextCheck = clock.now() + checkInterval

  return {
    async receive(source) {
      if (clock.now() >= nextCheck) {
        nextCheck = clock.now() + checkInterval
        await removeAbandoned(folder, clock)
      }
      await checkDisk(folder, reserve)
      // The writing process, and the start time by the common clock, to detect abandoned files.
      const path = join(folder, `${clock.now()}-${ownRun}-${random.trace()}`)
      const handle = await open(path, 'wx+', 0o600)
      let isThere = true
      async function release(): Promise<void> {
        isThere = false
        await handle.close()
      }
      async function discard(): Promise<void> {
        if (!isThere) return
        await release()
        await rm(path, { force: true })
      }
      try {
        const { sha256, size } = await writeWhole(handle, source)
        return {
          sha256,
          size,
          path,
          async read(position, length) {
            const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
            return buffer.subarray(0, bytesRead)
          },
          chunks: () => readChunks(handle),
          discard,
          release,
        }
      } catch (error) {
        await discard()
        throw error
      }
    },
  }
}

async function writeWhole(
  handle: FileHandle,
  source: AsyncIterable<Uint8Array>,
): Promise<{ sha256: string; size: number }> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of source) {
    hash.update(chunk)
    size += chunk.length
    await handle.writeFile(chunk)
  }
  await handle.sync()
  return { sha256: hash.digest('hex'), size }
}

/** With two buffers in turn: new ones would be garbage faster than it is collected, as much as the file is large. */
async function* readChunks(handle: FileHandle): AsyncGenerator<Uint8Array> {
  const buffers = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)] as const
  for (let position = 0, turn = 0; ; turn += 1) {
    const buffer = turn % 2 === 0 ? buffers[0] : buffers[1]
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function removeAbandoned(incoming: string, clock: Clock): Promise<void> {
  for (const name of await readdir(incoming)) {
    const [, started, run = ''] = /^(\d+)-(?:(.+)-)?/.exec(name) ?? []
    if (Number(started) < clock.now() - oldestIncoming || hasEnded(run)) await rm(join(incoming, name), { force: true })
  }
}
