import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemRandom } from '../../src/base/keys/random.ts'
import { silentLog } from '../../src/base/log/log.ts'
import type { Clock } from '../../src/base/time/clock.ts'
import { readConfig } from '../../src/config.ts'
import type { FileStores } from '../../src/files/open.ts'
import { openFileStores } from '../../src/files/open.ts'
import type { KeptFiles } from './kept-files.ts'
import { ObjectStorage } from './object-storage.ts'

export const storages = ['disk', 'object storage'] as const
export type Storage = (typeof storages)[number]

/** Stores of files for a test, in a place of their own. The test must remove it. */
export interface TestFiles extends FileStores {
  readonly folder: string
  readonly storage: ObjectStorage | undefined
  /** Opens the same stores again: the next start, or on object storage another machine with a disk of its own. */
  reopen(folder?: string): Promise<FileStores>
  listIncoming(): Promise<string[]>
  remove(): Promise<void>
}

export async function makeTestFiles(
  where: Storage,
  clock: Clock,
  env: Readonly<Record<string, string>> = {},
): Promise<TestFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-test-'))
  const storage = where === 'disk' ? undefined : await ObjectStorage.start()
  const opened: FileStores[] = []
  const reopen = async (dataDir = folder) => {
    const config = readConfig({ ...storage?.settings(), ...env, DATA_DIR: dataDir })
    const stores = await openFileStores(config, { clock, random: systemRandom, log: silentLog })
    opened.push(stores)
    return stores
  }
  const { store, pieces } = await reopen()
  return {
    ...{ store, pieces, folder, storage, reopen },
    listIncoming: () => readdir(join(folder, 'files', 'incoming')),
    async remove() {
      for (const stores of opened) await stores.store.close()
      await storage?.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The stores of a server, opened again as its next start would. The test must close them. */
export function openStoresOf(
  server: { readonly dataDir: string; readonly files: KeptFiles },
  clock: Clock,
): Promise<FileStores> {
  const config = readConfig({ DATA_DIR: server.dataDir, ...server.files.settings })
  return openFileStores(config, { clock, random: systemRandom, log: silentLog })
}
