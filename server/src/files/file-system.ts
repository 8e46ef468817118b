import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { day } from '../base/duration.ts'
import type { Random } from '../base/random.ts'
import { isMissing, makeFolder, syncFolder } from './durable.ts'
import type { FileStore, StoredFile } from './file-store.ts'

const sha256Pattern = /^[\da-f]{64}$/
/** Nothing takes that long to arrive: an older file belonged to a process that died. */
const oldestIncoming = day

/**
 * Contents in a folder, spread by the first two digits of their names: `ab/cdef…`. A content is written under `incoming/` and
 * moved to its name when all of it is on disk, so there is never half a file under a name.
 */
export async function openFileSystemStore(folder: string, clock: Clock, random: Random): Promise<FileStore> {
  const incoming = join(folder, 'incoming')
  await makeFolder(incoming)
  await removeAbandoned(incoming, clock)

  function pathOf(sha256: string): string {
    if (!sha256Pattern.test(sha256)) throw new Error('a content is named by the 64 hexadecimal digits of its SHA-256')
    return join(folder, sha256.slice(0, 2), sha256.slice(2))
  }

  return {
    async put(source, announce) {
      // The hour is in the name, so that it can be told later how old the file is by the clock that everything goes by.
      const arriving = join(incoming, `${clock.now()}-${random.trace()}`)
      try {
        const file = await writeWhole(arriving, source)
        await announce(file)
        await moveInto(pathOf(file.sha256), arriving)
        return file
      } catch (error) {
        await rm(arriving, { force: true })
        throw error
      }
    },

    async get(sha256, range) {
      let handle: FileHandle
      try {
        handle = await open(pathOf(sha256), 'r')
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
      const { size } = await handle.stat()
      return { stream: handle.createReadStream(range), size }
    },

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

async function writeWhole(path: string, source: AsyncIterable<Uint8Array>): Promise<StoredFile> {
  const hash = createHash('sha256')
  let size = 0
  const handle = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of source) {
      hash.update(chunk)
      size += chunk.length
      await handle.writeFile(chunk)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  return { sha256: hash.digest('hex'), size }
}

/** An equal content that is there already is replaced, which nobody notices: who reads it keeps what was opened. */
async function moveInto(path: string, arriving: string): Promise<void> {
  const folder = dirname(path)
  await makeFolder(folder)
  await rename(arriving, path)
  await syncFolder(folder)
  // Another process may have made the folder a moment ago and not have come to this yet.
  await syncFolder(dirname(folder))
}

async function removeAbandoned(incoming: string, clock: Clock): Promise<void> {
  for (const name of await readdir(incoming)) {
    const started = Number.parseInt(name, 10)
    if (started < clock.now() - oldestIncoming) await rm(join(incoming, name), { force: true })
  }
}
