import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { UploadPiecesTable, UploadsTable } from '../../db/tables.ts'
import { releaseFile, useFile } from '../../files/files.ts'
import { discardPieces } from '../../files/piece-store.ts'
import { addBytes, removeBytes } from '../../files/stored-bytes.ts'
import { notFound } from '../../graph/errors.ts'
import type { Node } from '../../graph/nodes.ts'
import { setTimer } from '../../timers/set.ts'

/** The dependencies of a write, besides its transaction. */
export interface Tools {
  readonly clock: Clock
  readonly random: Random
}

export const expiryTimer = 'uploads.expire'

export type NewUpload = Pick<UploadsTable, 'id' | 'business_id' | 'file_length' | 'file_type' | 'expires_time'> & {
  readonly file_name?: string | undefined
}

/** Opens an upload, which is a node like every object that a path can name. Returns how many bytes its business has then. */
export async function insertUpload(tx: Transaction, tools: Tools, upload: NewUpload): Promise<number> {
  const { id, business_id, file_length, file_type, file_name = null, expires_time } = upload
  await tx.query.insertInto('nodes').values({ id, kind: 'upload', business_id, account_id: null }).execute()
  await tx.query
    .insertInto('uploads')
    .values({
      ...{ id, business_id, file_length, file_type, file_name, expires_time },
      ...{ file_offset: 0, handle: null, sha256: null, used_time: null },
    })
    .execute()
  await setTimer(tx, tools, { kind: expiryTimer, due_time: expires_time, payload: { id } })
  return addBytes(tx, business_id, file_length)
}

const findById = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('uploads').selectAll().where('id', '=', id),
)

/** The upload of a node. An expired one counts as gone, though its row is removed a little later. */
export async function findUpload(db: Db, node: Node, clock: Clock): Promise<UploadsTable> {
  return checkAlive(await db.first(findById, { id: node.id }), clock)
}

/** The same, locked until the transaction ends. */
export async function lockUpload(tx: Transaction, node: Node, clock: Clock): Promise<UploadsTable> {
  return checkAlive(await lockById(tx, node.id), clock)
}

function checkAlive(upload: UploadsTable | undefined, clock: Clock): UploadsTable {
  if (!upload || upload.expires_time <= clock.now()) throw notFound()
  return upload
}

async function lockById(tx: Transaction, id: string): Promise<UploadsTable | undefined> {
  return tx.query.selectFrom('uploads').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Adds a piece at the current offset; false when the upload is at another offset, or over. */
export async function addPiece(tx: Transaction, clock: Clock, piece: UploadPiecesTable): Promise<boolean> {
  const { upload_id, file_offset, size } = piece
  const { numUpdatedRows } = await tx.query
    .updateTable('uploads')
    .set({ file_offset: file_offset + size })
    .where('id', '=', upload_id)
    .where('file_offset', '=', file_offset)
    .where('expires_time', '>', clock.now())
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return false
  await tx.query.insertInto('upload_pieces').values(piece).execute()
  return true
}

/** The pieces of an upload, in order. */
export async function listPieces({ query }: Db, upload_id: string): Promise<UploadPiecesTable[]> {
  return query
    .selectFrom('upload_pieces')
    .selectAll()
    .where('upload_id', '=', upload_id)
    .orderBy('file_offset')
    .execute()
}

/** Resets an upload to an offset where a piece ends; returns the names of the pieces after it. */
export async function rewindUpload(tx: Transaction, { id }: UploadsTable, file_offset: number): Promise<string[]> {
  await tx.query.updateTable('uploads').set({ file_offset }).where('id', '=', id).execute()
  const removed = await tx.query
    .deleteFrom('upload_pieces')
    .where('upload_id', '=', id)
    .where('file_offset', '>=', file_offset)
    .returning('name')
    .execute()
  return removed.map(({ name }) => name)
}

async function removePieces(tx: Transaction, tools: Tools, upload_id: string): Promise<void> {
  await tx.query.deleteFrom('upload_pieces').where('upload_id', '=', upload_id).execute()
  await discardPieces(tx, tools, fileOf(upload_id))
}

/** Which of some uploads are still open for more bytes. */
export async function listUnfinished({ query }: Db, ids: readonly string[]): Promise<string[]> {
  const uploads = await query
    .selectFrom('uploads')
    .select('id')
    .where('id', 'in', ids)
    .where('handle', 'is', null)
    .execute()
  return uploads.map(({ id }) => id)
}

/** All bytes have arrived and are a blob; from now on the handle stands for it. */
export async function finishUpload(
  tx: Transaction,
  tools: Tools,
  { id }: UploadsTable,
  finished: { handle: string; sha256: string; expires_time: number },
): Promise<void> {
  await tx.query.updateTable('uploads').set(finished).where('id', '=', id).execute()
  useFile(tx, finished.sha256, id)
  await removePieces(tx, tools, id)
}

/** The name of an unfinished upload in the piece store. */
export function fileOf(id: string): string {
  return id.replace(/^upload:/, '')
}

export function uploadOf(file: string): string {
  return `upload:${file}`
}

/** Removes an upload with everything left of it. */
export async function deleteUpload(tx: Transaction, tools: Tools, upload: UploadsTable): Promise<void> {
  const { id, sha256, used_time, business_id, file_length } = upload
  if (sha256 === null) await removePieces(tx, tools, id)
  await tx.query.deleteFrom('uploads').where('id', '=', id).execute()
  await tx.query.deleteFrom('nodes').where('id', '=', id).execute()
  if (sha256 !== null && used_time === null) await releaseFile(tx, tools, sha256, id)
  removeBytes(tx, business_id, file_length)
}

/** When the timer fires: ends the upload, or sets the timer again because the finished upload got more time. */
export async function expireUpload(tx: Transaction, tools: Tools, id: string): Promise<void> {
  const upload = await lockById(tx, id)
  if (!upload) return
  if (upload.expires_time <= tools.clock.now()) await deleteUpload(tx, tools, upload)
  else await setTimer(tx, tools, { kind: expiryTimer, due_time: upload.expires_time, payload: { id } })
}

/**
 * Uses up a handle, and passes its blob to `used_by`. Undefined when this business has no such handle, or it was used or has expired.
 * Of two concurrent uses one gets it.
 */
export async function takeUpload(
  tx: Transaction,
  tools: Tools,
  business_id: string,
  handle: string,
  used_by: string,
): Promise<{ sha256: string; file_type: string } | undefined> {
  const now = tools.clock.now()
  const taken = await tx.query
    .updateTable('uploads')
    .set({ used_time: now })
    .where('handle', '=', handle)
    .where('business_id', '=', business_id)
    .where('used_time', 'is', null)
    .where('expires_time', '>', now)
    .returning(['id', 'sha256', 'file_type'])
    .executeTakeFirst()
  if (!taken?.sha256) return undefined
  const { id, sha256, file_type } = taken
  useFile(tx, sha256, used_by)
  await releaseFile(tx, tools, sha256, id)
  return { sha256, file_type }
}
