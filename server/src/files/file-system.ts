import { readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import { isMissing, makeFolder, syncFolder } from './durable.ts'
import { checkName, type FileStore, isName, putReceived } from './file-store.ts'
import { blobFolder, recordOwner } from './owners.ts'
import { openForReading } from './reading.ts'
import { openSpool } from './spool.ts'

/**
 * Blobs in a folder, spread by the first two digits of their names: `ab/cdef…`. A blob is written under `incoming/` and renamed when
 * all of it is on disk, so there is never half a blob under its name.
 */
export async function openFileSystemStore(
  folder: string,
  clock: Clock,
  random: Random,
  reserve?: number,
): Promise<FileStore> {
  const spool = await openSpool(join(folder, 'incoming'), clock, random, reserve)

  function pathOf(sha256: string): string {
    checkName(sha256)
    return join(folder, sha256.slice(0, 2), sha256.slice(2))
  }

  const receive: FileStore['receive'] = async (source) => {
    const { sha256, size, path, read, discard, release } = await spool.receive(source)
    return {
      ...{ sha256, size, read, discard },
      async keep(announce) {
        await announce({ sha256, size })
        await moveInto(pathOf(sha256), path)
        await release()
      },
    }
  }

  return {
    removesLate: false,
    put: (source, announce) => putReceived(receive, source, announce),
    receive,
    get: async ({ sha256 }, range) => openForReading(pathOf(sha256), range),

    async find({ sha256 }) {
      try {
        const { size, mtimeMs } = await stat(pathOf(sha256))
        return { size, stored_time: mtimeMs }
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },

    async *list() {
      for (const start of await readdir(folder)) {
        if (!blobFolder.test(start)) continue
        const names = await readdir(join(folder, start))
        yield names.filter((name) => isName(start + name)).map((name) => ({ sha256: start + name, place: '' }))
      }
    },

    async claim(owner) {
      const isAlone = await recordOwner(folder, owner)
      return () => isAlone
    },

    async remove({ sha256 }) {
      const path = pathOf(sha256)
      try {
        await rm(path)
        await syncFolder(dirname(path))
      } catch (error) {
        if (!isMissing(error)) throw error
      }
    },

    close: () => Promise.resolve(),
  }
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
