import { appendFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from './durable.ts'

const fileName = '.owners'
/** Whoever wrote blobs before owners were recorded. */
const somebody = 'unknown'
export const blobFolder = /^[\da-f]{2}$/

/**
 * Records in the folder of blobs which database uses it, and returns whether no other one ever did. Several may share it: a developer
 * goes from SQLite to PostgreSQL and keeps `DATA_DIR`.
 */
export async function recordOwner(folder: string, owner: string): Promise<boolean> {
  const path = join(folder, fileName)
  const text = await readFile(path, 'utf8').catch((error) => {
    if (isMissing(error)) return undefined
    throw error
  })
  const known = new Set(text?.split('\n').filter((line) => line !== ''))
  if (text === undefined && (await readdir(folder)).some((name) => blobFolder.test(name))) known.add(somebody)
  if (!known.has(owner)) {
    const lines = text === undefined ? [...known, owner] : [owner]
    await appendFile(path, `${lines.join('\n')}\n`, { mode: 0o600 })
    known.add(owner)
  }
  return known.size === 1
}
