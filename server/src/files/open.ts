import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import type { Random } from '../base/keys/random.ts'
import type { Log } from '../base/log/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { isUnwritableFile } from '../db/outage.ts'
import { makeFolder } from './durable.ts'
import type { FileStore } from './file-store.ts'
import { openFileSystemStore } from './file-system.ts'
import { openPieceStore, type PieceStore } from './piece-store.ts'
import { ObjectClient } from './s3/client.ts'
import type { CredentialSettings } from './s3/credentials/choose.ts'
import { openCredentials } from './s3/credentials/open.ts'
import type { ObjectLocation } from './s3/location.ts'
import { openObjectPieces } from './s3/object-pieces.ts'
import { openObjectStore } from './s3/object-store.ts'
import { openSpool } from './spool.ts'
import { FilesUnavailable } from './unavailable.ts'

/** Where files are; the names are those of the settings. */
export interface FileSettings extends CredentialSettings {
  readonly dataDir: string
  readonly filesUrl: ObjectLocation | undefined
  readonly filesTimeout: number
  /** Bytes of the disk that files leave free. */
  readonly diskReserve?: number | undefined
}

export interface FileStores {
  readonly store: FileStore
  readonly pieces: PieceStore
}

/** Opens the blob store and the store of pieces: in object storage, or in folders of the data. */
export async function openFileStores(
  settings: FileSettings,
  { clock, random, log }: { clock: Clock; random: Random; log: Log },
): Promise<FileStores> {
  const { dataDir, filesUrl: location, filesTimeout: timeout, diskReserve } = settings
  const folder = join(dataDir, 'files')
  const [incoming, uploads] = [join(folder, 'incoming'), join(dataDir, 'uploads')]
  for (const used of location ? [incoming] : [folder, incoming, uploads]) await claimFolder(used)
  if (!location) {
    const store = await openFileSystemStore(folder, clock, random, diskReserve)
    return { store, pieces: await openPieceStore(uploads, diskReserve) }
  }
  const credentials = openCredentials(settings, location.region, { clock, log })
  const client = new ObjectClient({ location, credentials, timeout, log })
  const spool = await openSpool(incoming, clock, random, diskReserve)
  return { store: openObjectStore(client, spool), pieces: openObjectPieces(client) }
}

/** Makes a folder, and refuses one of another user: every upload would fail there. A full disk refuses uploads later as well. */
async function claimFolder(path: string): Promise<void> {
  try {
    await makeFolder(path)
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    if (isUnwritableFile(error)) return
    throw new FilesUnavailable(
      'refused',
      `files cannot be stored in ${path}: ${(error as Error).message}; make the user of the service the owner of DATA_DIR and of everything in it, or set DATA_DIR to a folder that can be written`,
      error,
    )
  }
}
