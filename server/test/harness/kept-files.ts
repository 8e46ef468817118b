import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Engine } from './databases.ts'
import type { Storage } from './file-stores.ts'
import { ObjectStorage } from './object-storage.ts'

/** What is kept of files, as tests see it past the service: on disk or in object storage. */
export interface KeptFiles {
  /** Present where it is object storage: it can fail. */
  readonly storage: ObjectStorage | undefined
  /** The settings of a server that keeps its files there. */
  readonly settings: Readonly<Record<string, string>>
  /** Blobs as `ab/cdef…`, and what arrives on the disk as `incoming/…`. */
  list(): Promise<string[]>
  has(sha256: string): Promise<boolean>
  read(sha256: string): Promise<Buffer>
  /** Takes the bytes away, as nobody should. */
  lose(sha256: string): Promise<void>
  /** Takes away all blobs and pieces. */
  loseAll(): Promise<void>
  /** The pieces of unfinished uploads as `FILE/PIECE`, or those of one file by their names. */
  listPieces(file?: string): Promise<string[]>
  /** Leaves a piece behind, as a process that died would. */
  leavePiece(file: string, name: string, bytes: Uint8Array): Promise<void>
  stop(): Promise<void>
}

/**
 * Which storage goes with a database in tests: each brings one, so that all that keeps files is tested over both in one run. The long
 * form runs it the other way round.
 */
export function storageOf(engine: Engine): Storage {
  const isSwapped = process.env['TEST_STORAGE'] === 'swapped'
  return (engine === 'sqlite') === isSwapped ? 'object storage' : 'disk'
}

/** A place for the files of a server with this folder. Object storage is inside the folder too, so that it goes with it. */
export async function makeKeptFiles(dataDir: string, where: Storage): Promise<KeptFiles> {
  return where === 'disk' ? seeDisk(dataDir) : seeObjects(dataDir, await ObjectStorage.start(join(dataDir, 'objects')))
}

const nameOf = (sha256: string) => `${sha256.slice(0, 2)}/${sha256.slice(2)}`
const ofFile = (pieces: readonly string[], file: string | undefined) =>
  file === undefined
    ? [...pieces]
    : pieces.filter((piece) => piece.startsWith(`${file}/`)).map((piece) => piece.slice(file.length + 1))

/** The files in the folder of a server. */
export function seeDisk(dataDir: string): KeptFiles {
  const folder = join(dataDir, 'files')
  const uploads = join(dataDir, 'uploads')
  const pathOf = (sha256: string) => join(folder, nameOf(sha256))
  const list = () => listBelow(folder)
  return {
    storage: undefined,
    settings: {},
    list,
    has: async (sha256) => (await list()).includes(nameOf(sha256)),
    read: (sha256) => readFile(pathOf(sha256)),
    lose: (sha256) => rm(pathOf(sha256)),
    async loseAll() {
      for (const name of await list()) await rm(join(folder, name))
      for (const name of await listBelow(uploads)) await rm(join(uploads, name))
    },
    listPieces: async (file) =>
      ofFile(
        (await listBelow(uploads)).map((name) => name.replace('.pieces/', '/')),
        file,
      ),
    async leavePiece(file, name, bytes) {
      // Of a version in which all pieces of a file were one file; see piece-store.ts.
      const path = name === 'earlier' ? join(uploads, file) : join(uploads, `${file}.pieces`, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, bytes)
    },
    stop: async () => undefined,
  }
}

function seeObjects(dataDir: string, storage: ObjectStorage): KeptFiles {
  const prefix = 'some/prefix/'
  const keysBelow = async (folder: string) => {
    const root = prefix + folder
    return (await storage.keys()).filter((key) => key.startsWith(root)).map((key) => key.slice(root.length))
  }
  const keysOf = async (sha256: string) => {
    const keys = await keysBelow('files/')
    return keys.filter((key) => withoutPlace(key) === nameOf(sha256)).map((key) => `${prefix}files/${key}`)
  }
  return {
    storage,
    settings: storage.settings(prefix.slice(0, -1)),
    list: async () => [...(await listBelow(join(dataDir, 'files'))), ...(await keysBelow('files/')).map(withoutPlace)],
    has: async (sha256) => (await keysOf(sha256)).length > 0,
    async read(sha256) {
      const [key] = await keysOf(sha256)
      if (key === undefined) throw new Error(`there is no object of ${sha256}`)
      return storage.read(key)
    },
    async lose(sha256) {
      for (const key of await keysOf(sha256)) await storage.lose(key)
    },
    async loseAll() {
      for (const key of await storage.keys()) await storage.lose(key)
    },
    listPieces: async (file) => ofFile(await keysBelow('uploads/'), file),
    leavePiece: (file, name, bytes) => storage.plant(`${prefix}uploads/${file}/${name}`, bytes),
    stop: () => storage.stop(),
  }
}

/** The same bytes may be stored at several times, each in its own place: `ab/cdef….place`. */
function withoutPlace(key: string): string {
  return key.split('.')[0] ?? key
}

/** The names of files below a folder, sorted. */
export async function listBelow(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return found
    .filter((one) => one.isFile() && one.name !== '.owners')
    .map((one) => join(one.parentPath, one.name).slice(folder.length + 1))
    .sort()
}
