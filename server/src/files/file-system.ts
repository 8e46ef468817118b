import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { day, hour } from '../base/duration.ts'
import { hasEnded, nameOwnRun } from '../base/process-run.ts'
import type { Random } from '../base/random.ts'
import { isMissing, makeFolder, syncFolder } from './durable.ts'
import type { Arrival, FileStore } from './file-store.ts'
import { openForReading } from './reading.ts'

const sha256Pattern = /^[\da-f]{64}$/
/** No upload takes that long: an older file belonged to a process that died, on whatever machine. */
const oldestIncoming = day
/** How often to check for such files, besides at the start. */
const checkInterval = hour

/**
 * Blobs in a folder, spread by the first two digits of their names: `ab/cdef…`. A blob is written under `incoming/` and renamed when
 * all of it is on disk, so there is never half a blob under its name.
 */
export async function openFileSystemStore(folder: string, clock: Clock, random: Random): Promise<FileStore> {
  const incoming = join(folder, 'incoming')
  await makeFolder(incoming)
  await removeAbandoned(incoming, clock)
  const ownRun = nameOwnRun()
  let nextCheck = clock.now() + checkInterval

  function pathOf(sha256: string): string {
    if (!sha256Pattern.test(sha256)) throw new Error('a blob is named by the 64 hexadecimal digits of its SHA-256')
    return join(folder, sha256.slice(0, 2), sha256.slice(2))
  }

  async function receive(source: AsyncIterable<Uint8Array>): Promise<Arrival> {
    if (clock.now() >= nextCheck) {
      nextCheck = clock.now() + checkInterval
      await removeAbandoned(incoming, clock)
    }
    // The writing process, and the start time by the common clock, to detect abandoned files.
    const path = join(incoming, `${clock.now()}-${ownRun}-${random.trace()}`)
    const handle = await open(path, 'wx+', 0o600)
    let isThere = true
    async function discard(): Promise<void> {
      if (!isThere) return
      isThere = false
      await handle.close()
      await rm(path, { force: true })
    }
    try {
      const { sha256, size } = await writeWhole(handle, source)
      return {
        sha256,
        size,
        async read(position, length) {
          const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
          return buffer.subarray(0, bytesRead)
        },
        async keep(announce) {
          await announce({ sha256, size })
          await moveInto(pathOf(sha256), path)
          isThere = false
          await handle.close()
        },
        discard,
      }
    } catch (error) {
      await discard()
      throw error
    }
  }

  return {
    async put(source, announce) {
      const arrival = await receive(source)
      try {
        await arrival.keep(announce)
      } finally {
        await arrival.discard()
      }
      const { sha256, size } = arrival
      return { sha256, size }
    },

    receive,

    get: async (sha256, range) => openForReading(pathOf(sha256), range),

    async remove(sha256) {
      const path = pathOf(sha256)
      try {
        await rm(path)
        await syncFolder(dirname(path))
      } catch (error) {
        if (!isMissing(error)) throw error
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

/** Replaces an equal blob, which nobody notices: open readers keep their file. */
async function moveInto(path: string, arriving: string): Promise<void> {
  const folder = dirname(path)
  await makeFolder(folder)
  await rename(arriving, path)
  await syncFolder(folder)
  // Another process may have just made the folder and not have synced it yet.
  await syncFolder(dirname(folder))
}

async function removeAbandoned(incoming: string, clock: Clock): Promise<void> {
  for (const name of await readdir(incoming)) {
    const [, started, run = ''] = /^(\d+)-(?:(.+)-)?/.exec(name) ?? []
    if (Number(started) < clock.now() - oldestIncoming || hasEnded(run)) await rm(join(incoming, name), { force: true })
  }
}
