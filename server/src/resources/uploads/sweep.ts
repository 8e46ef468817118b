import type { Log } from '../../base/log/log.ts'
import type { Database } from '../../db/database.ts'
import type { PieceStore } from '../../files/piece-store.ts'
import { fileOf, listUnfinished, uploadOf } from './store.ts'

/** The largest number in one query. */
const batchSize = 500

/**
 * Removes what a dead process left of ended uploads: a piece that it was writing at that moment. The row of an upload comes before its
 * first piece, so pieces without a row, or of a finished upload, belong to nobody.
 */
export async function sweepPieces({ read }: Pick<Database, 'read'>, pieces: PieceStore, log: Log): Promise<void> {
  let removed = 0
  const files = await pieces.list()
  for (let start = 0; start < files.length; start += batchSize) {
    const batch = files.slice(start, start + batchSize)
    const unfinished = new Set((await listUnfinished(read, batch.map(uploadOf))).map(fileOf))
    for (const file of batch) {
      if (unfinished.has(file)) continue
      await pieces.removeAll(file)
      removed += 1
    }
  }
  if (removed > 0) log.info({ uploads: removed }, 'removed what was left of uploads that have ended')
}
