import { join } from 'node:path'
import type { Database } from '../../src/db/database.ts'
import { type KeptFiles, listBelow } from './kept-files.ts'

/** Everything that is kept of media and their bytes: a request that is refused must leave it as it was. */
export async function takeStock({ database, files }: { database: Database; files: Pick<KeptFiles, 'list'> }) {
  const { query } = database.read
  return {
    nodes: await query.selectFrom('nodes').select('id').where('kind', '=', 'media').orderBy('id').execute(),
    media: await query.selectFrom('media').selectAll().orderBy('id').execute(),
    contents: await query.selectFrom('files').select('sha256').orderBy('sha256').execute(),
    uses: await query.selectFrom('file_uses').selectAll().orderBy('used_by').execute(),
    files: await files.list(),
  }
}

/** The files in the folder of a server, those that are still arriving included. */
export function listFiles(dataDir: string): Promise<string[]> {
  return listBelow(join(dataDir, 'files'))
}
