import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../src/db/database.ts'

/** Everything that is kept of media and their bytes: a request that is refused must leave it as it was. */
export async function takeStock({ database, dataDir }: { database: Database; dataDir: string }) {
  const { query } = database.read
  return {
    nodes: await query.selectFrom('nodes').select('id').where('kind', '=', 'media').orderBy('id').execute(),
    media: await query.selectFrom('media').selectAll().orderBy('id').execute(),
    contents: await query.selectFrom('files').select('sha256').orderBy('sha256').execute(),
    uses: await query.selectFrom('file_uses').selectAll().orderBy('used_by').execute(),
    files: await listFiles(dataDir),
  }
}

/** The files of the store of bytes, those that are still arriving included. */
export async function listFiles(dataDir: string): Promise<string[]> {
  const folder = join(dataDir, 'files')
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  return found
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(folder.length + 1))
    .sort()
}
