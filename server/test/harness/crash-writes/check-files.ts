import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listFiles } from '../stock.ts'
import type { StoreView } from './store-view.ts'

/**
 * What is wrong between the rows and the files of a store on which nothing is due and nothing arrives: every content that is used is
 * there, whole; no file is there that no row knows.
 */
export async function findFileProblems(store: StoreView, dataDir: string, now: number): Promise<string[]> {
  const problems: string[] = []
  const rows = new Map(
    store
      .rows<{ sha256: string; size: number; held_until: number; uses: number }>(
        `SELECT sha256, size, held_until,
           (SELECT count(*) FROM file_uses WHERE file_uses.sha256 = files.sha256) AS uses FROM files`,
      )
      .map((row) => [row.sha256, row]),
  )
  const found = new Set<string>()
  for (const name of await listFiles(dataDir)) {
    const sha256 = name.replaceAll('/', '')
    const row = rows.get(sha256)
    if (!row) {
      problems.push(`the file ${name} is there but nothing knows of it`)
      continue
    }
    found.add(sha256)
    const bytes = await readFile(join(dataDir, 'files', name))
    const digest = createHash('sha256').update(bytes).digest('hex')
    if (digest !== sha256) problems.push(`the file ${name} has other bytes than its name says`)
    if (bytes.length !== row.size) problems.push(`the file ${name} has ${bytes.length} bytes, not ${row.size}`)
  }
  for (const { sha256, held_until, uses } of rows.values()) {
    // One that was recorded and did not get into its place is swept when its hour is over.
    if (!found.has(sha256) && uses > 0) problems.push(`the file of ${sha256} is gone, which is used`)
    if (uses === 0 && held_until <= now) problems.push(`the content ${sha256} is there, which nothing uses or holds`)
  }
  return [...problems, ...(await findPartProblems(store, dataDir))]
}

/** The pieces of uploads that are not finished. */
async function findPartProblems(store: StoreView, dataDir: string): Promise<string[]> {
  const unfinished = store.rows<{ id: string; file_offset: number }>(
    'SELECT id, file_offset FROM uploads WHERE handle IS NULL',
  )
  const offsets = new Map(unfinished.map(({ id, file_offset }) => [`${id.replace('upload:', '')}.pieces`, file_offset]))
  const there = new Set(await readdir(join(dataDir, 'uploads')))
  return [
    ...[...there].filter((name) => !offsets.has(name)).map((name) => `${name} is of no unfinished upload`),
    ...[...offsets]
      .filter(([name, offset]) => offset > 0 && !there.has(name))
      .map(([name, offset]) => `${name} is gone, of which ${offset} bytes have arrived`),
  ]
}
