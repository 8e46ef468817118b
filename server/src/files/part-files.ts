import { constants, type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Clock } from '../base/clock.ts'
import { minute } from '../base/duration.ts'
import type { Random } from '../base/random.ts'
import type { Transaction } from '../db/database.ts'
import { setTimer } from '../timers/set.ts'
import type { TimerHandler } from '../timers/worker.ts'
import { makeFolder, syncFolder } from './durable.ts'
import { openForReading } from './reading.ts'

/**
 * Files that arrive piece by piece over several requests, until all of one is there and it becomes a content. How much of a
 * file counts is recorded by whoever writes it; bytes beyond that are left from a piece that was not, and written over.
 */
export interface PartFiles {
  /** Writes a piece and returns when it is on disk. Pieces of one file are never written at the same moment: the writer sees to that. */
  write(name: string, offset: number, bytes: Uint8Array): Promise<void>
  /** The first `length` bytes; undefined when the file is not there. */
  read(name: string, length: number): Promise<Readable | undefined>
  remove(name: string): Promise<void>
}

export async function openPartFiles(folder: string): Promise<PartFiles> {
  await makeFolder(folder)
  return {
    async write(name, offset, bytes) {
      const handle = await open(join(folder, name), constants.O_RDWR | constants.O_CREAT, 0o600)
      try {
        const { size } = await handle.stat()
        if (size < offset) throw new Error(`${name} has ${size} bytes on disk, of ${offset} that were recorded`)
        await writeAll(handle, offset, bytes)
        await handle.datasync()
      } finally {
        await handle.close()
      }
      if (offset === 0) await syncFolder(folder)
    },

    read: async (name, length) => (await openForReading(join(folder, name), { start: 0, end: length - 1 }))?.stream,

    async remove(name) {
      await rm(join(folder, name), { force: true })
    },
  }
}

async function writeAll(handle: FileHandle, offset: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, offset + done)
    done += bytesWritten
  }
}

export const discardTimer = 'files.discard_part'

/** Removes a file once the transaction that ends it is committed. */
export async function discardPart(
  tx: Transaction,
  tools: { clock: Clock; random: Random },
  name: string,
): Promise<void> {
  await setTimer(tx, tools, { kind: discardTimer, due_time: tools.clock.now(), payload: { name } })
}

export function makeDiscardHandler(parts: PartFiles): TimerHandler {
  return {
    act: (payload) => parts.remove((payload as { name: string }).name),
    retryDelay: () => minute,
  }
}
