import { open, readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import { minute } from '../base/time/duration.ts'
import type { Transaction } from '../db/database.ts'
import { setTimer } from '../timers/set.ts'
import type { TimerHandler } from '../timers/worker.ts'
import { checkDisk } from './disk-reserve.ts'
import { isMissing, makeFolder, syncFolder } from './durable.ts'
import { openForReading } from './reading.ts'

/** A recorded piece: its bytes follow those of the piece before it. */
interface Piece {
  readonly name: string
  readonly size: number
}

/**
 * Files that arrive in pieces over several requests, until a file is complete and moves to the blob store. A piece is written once, as
 * a whole, under a unique name, as object storage needs it. The caller records which pieces count, and in what order; a piece that was
 * never recorded is removed with its file.
 */
export interface PieceStore {
  /** Writes a piece and resolves when it is on disk. */
  put(file: string, name: string, bytes: Uint8Array): Promise<void>
  /** The bytes of pieces, one after the other; throws when a piece is missing. */
  read(file: string, pieces: readonly Piece[]): AsyncGenerator<Uint8Array>
  /** The size of a piece; undefined when it does not exist. */
  find(file: string, name: string): Promise<number | undefined>
  /** Removes one piece. */
  remove(file: string, name: string): Promise<void>
  /** Removes all pieces of a file. */
  removeAll(file: string): Promise<void>
  /** The files with pieces. */
  list(): Promise<string[]>
}

/** The name of a file's bytes before pieces were separate files: all of them were in one. See migration 022. */
const earlierPiece = 'earlier'
const ending = '.pieces'
/** A folder that is removed just when a piece is put into it is made again. */
const maxTries = 5

export async function openPieceStore(folder: string, reserve?: number): Promise<PieceStore> {
  await makeFolder(folder)
  const folderOf = (file: string) => join(folder, file + ending)
  const pathOf = (file: string, name: string) =>
    name === earlierPiece ? join(folder, file) : join(folderOf(file), name)

  async function create(file: string, name: string) {
    for (let tries = 1; ; tries++) {
      await makeFolder(folderOf(file))
      try {
        return await open(pathOf(file, name), 'wx', 0o600)
      } catch (error) {
        if (!isMissing(error) || tries === maxTries) throw error
      }
    }
  }

  return {
    async put(file, name, bytes) {
      await checkDisk(folder, reserve)
      const handle = await create(file, name)
      try {
        await handle.writeFile(bytes)
        // The folders too: another request may have just made them, and not have synced them yet.
        await Promise.all([handle.datasync(), syncFolder(folderOf(file)), syncFolder(folder)])
      } finally {
        await handle.close()
      }
    },

    async *read(file, pieces) {
      for (const { name, size } of pieces) {
        const found = await openForReading(pathOf(file, name), { start: 0, end: size - 1 })
        if (!found) throw new Error(`the piece ${name} of ${file} is gone`)
        yield* found.stream
      }
    },

    async find(file, name) {
      try {
        return (await stat(pathOf(file, name))).size
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },

    async remove(file, name) {
      await rm(pathOf(file, name), { force: true })
      // The folder is useless without pieces, and stays as long as it has one.
      await rmdir(folderOf(file)).catch(() => undefined)
    },

    async removeAll(file) {
      await rm(pathOf(file, earlierPiece), { force: true })
      await rm(folderOf(file), { recursive: true, force: true })
    },

    async list() {
      const names = await readdir(folder)
      return [...new Set(names.map((name) => (name.endsWith(ending) ? name.slice(0, -ending.length) : name)))]
    },
  }
}

export const discardTimer = 'files.discard_part'

/** Removes the pieces of a file once the transaction that ends it is committed. */
export async function discardPieces(
  tx: Transaction,
  tools: { clock: Clock; random: Random },
  name: string,
): Promise<void> {
  await setTimer(tx, tools, { kind: discardTimer, due_time: tools.clock.now(), payload: { name } })
}

export function makeDiscardHandler(pieces: PieceStore): TimerHandler {
  return {
    act: (payload) => pieces.removeAll((payload as { name: string }).name),
    retryDelay: () => minute,
  }
}
