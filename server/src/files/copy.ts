import { walkInSteps } from '../base/walk.ts'
import type { Db } from '../db/database.ts'
import type { FilesTable, UploadPiecesTable } from '../db/tables.ts'
import type { BlobPlace } from './file-store.ts'
import type { FileStores } from './open.ts'

const stepSize = 200

export interface Copied {
  /** Blobs and pieces that were looked at so far, of so many. */
  readonly done: number
  readonly total: number
  readonly copied: number
  readonly bytes: number
  /** Blobs that the source does not have, by their hashes. */
  readonly missing: readonly string[]
}

interface CopyDeps {
  readonly db: Db
  readonly from: FileStores
  readonly to: FileStores
  /** The name of an upload in a store of pieces. */
  readonly fileOf: (uploadId: string) => string
  readonly report: (soFar: Copied) => void
}

/**
 * Copies every blob and piece that the database knows. What is there already, with all its bytes, stays: so a copy that was stopped
 * goes on, and one that is made again after servers wrote more copies that alone. The hash of each blob is checked on the way.
 */
export async function copyFiles({ db, from, to, fileOf, report }: CopyDeps): Promise<Copied> {
  const soFar = { done: 0, copied: 0, bytes: 0, missing: [] as string[], total: await count(db) }

  async function copyBlob({ sha256, place, size }: FilesTable): Promise<void> {
    const blob = { sha256, place }
    if ((await to.store.find(blob))?.size === size) return
    const found = await from.store.get(blob)
    if (!found) {
      // Rows of uploads that failed have no bytes, and go by themselves.
      if (await isUsed(db, blob)) soFar.missing.push(sha256)
      return
    }
    await to.store.put(found.stream, async (arrived) => {
      if (arrived.sha256 === sha256) return place
      throw new Error(`the bytes of the file ${sha256} are not what they were: restore it from a backup`)
    })
    soFar.copied += 1
    soFar.bytes += size
  }

  async function copyPiece({ upload_id, name, size }: UploadPiecesTable): Promise<void> {
    const file = fileOf(upload_id)
    const there = await to.pieces.find(file, name)
    if (there === size) return
    if (there !== undefined) await to.pieces.remove(file, name)
    const chunks: Uint8Array[] = []
    for await (const chunk of from.pieces.read(file, [{ name, size }])) chunks.push(chunk)
    await to.pieces.put(file, name, Buffer.concat(chunks))
    soFar.copied += 1
    soFar.bytes += size
  }

  async function copyAll<Row>(list: (after: Row | undefined) => Promise<Row[]>, copy: (row: Row) => Promise<void>) {
    const take = async (rows: Row[]) => {
      for (const row of rows) {
        await copy(row)
        soFar.done += 1
        report(soFar)
      }
    }
    await walkInSteps<Row>({ list, take, size: stepSize, isStopped: () => false })
  }

  await copyAll<FilesTable>((after) => listBlobs(db, after), copyBlob)
  await copyAll<UploadPiecesTable>((after) => listPieces(db, after), copyPiece)
  return soFar
}

async function count({ query }: Db): Promise<number> {
  let total = 0
  for (const table of ['files', 'upload_pieces'] as const) {
    const { count } = await query
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    total += Number(count)
  }
  return total
}

async function isUsed({ query }: Db, { sha256 }: BlobPlace): Promise<boolean> {
  const use = await query.selectFrom('file_uses').select('used_by').where('sha256', '=', sha256).executeTakeFirst()
  return use !== undefined
}

function listBlobs({ query }: Db, after: FilesTable | undefined): Promise<FilesTable[]> {
  return query
    .selectFrom('files')
    .selectAll()
    .where('sha256', '>', after?.sha256 ?? '')
    .orderBy('sha256')
    .limit(stepSize)
    .execute()
}

function listPieces({ query }: Db, after: UploadPiecesTable | undefined): Promise<UploadPiecesTable[]> {
  const { upload_id = '', file_offset = -1 } = after ?? {}
  return query
    .selectFrom('upload_pieces')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('upload_id', '>', upload_id),
        eb.and([eb('upload_id', '=', upload_id), eb('file_offset', '>', file_offset)]),
      ]),
    )
    .orderBy('upload_id')
    .orderBy('file_offset')
    .limit(stepSize)
    .execute()
}
