import { readdir, readlink } from 'node:fs/promises'
import { fileOf } from '../../src/resources/uploads/store.ts'
import type { TestServer } from '../harness/server.ts'

/** What a server at rest has on its disk and open although nothing knows of it, and what should be on the disk and is not. */
export async function findLeftovers({ database, dataDir, files: kept }: TestServer): Promise<string[]> {
  const { query } = database.read
  const blobs = await query.selectFrom('files').select('sha256').execute()
  const known = new Set(blobs.map(({ sha256 }) => `${sha256.slice(0, 2)}/${sha256.slice(2)}`))
  const files = await kept.list()
  const uploads = await query.selectFrom('uploads').select('id').where('handle', 'is', null).execute()
  const expected = new Set(uploads.map(({ id }) => fileOf(id)))
  const pieces = await kept.listPieces()
  return [
    ...files.filter((file) => !known.has(file)).map((file) => `files/${file} belongs to nothing`),
    ...[...known].filter((file) => !files.includes(file)).map((file) => `files/${file} is not there`),
    ...pieces
      .filter((piece) => !expected.has(piece.split('/')[0] as string))
      .map((piece) => `uploads/${piece} belongs to no upload`),
    ...(await listOpenFiles(dataDir)).map((file) => `${file} is open`),
  ]
}

/** The open files below the folders of bytes, where the system lists them. */
async function listOpenFiles(dataDir: string): Promise<string[]> {
  if (process.platform !== 'linux') return []
  const handles = await readdir('/proc/self/fd')
  const targets = await Promise.all(handles.map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => '')))
  return targets.filter((target) => target.startsWith(`${dataDir}/files/`) || target.startsWith(`${dataDir}/uploads/`))
}
