import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { UploadsTable } from '../../db/tables.ts'
import { releaseFile, useFile } from '../../files/files.ts'
import { discardPart } from '../../files/part-files.ts'
import { notFound } from '../../graph/errors.ts'
import type { Node } from '../../graph/nodes.ts'
import { setTimer } from '../../timers/set.ts'

/** What a write here works with besides its transaction. */
export interface Tools {
  readonly clock: Clock
  readonly random: Random
}

export const expiryTimer = 'uploads.expire'

export type NewUpload = Pick<UploadsTable, 'id' | 'business_id' | 'file_length' | 'file_type' | 'expires_time'> & {
  readonly file_name?: string | undefined
}

/** Opens an upload, which is a node like everything that a path can name. */
export async function insertUpload(tx: Transaction, tools: Tools, upload: NewUpload): Promise<void> {
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
}

const findById = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('uploads').selectAll().where('id', '=', id),
)

/** The upload of a node. One that has expired is gone, though its row is swept a little later. */
export async function findUpload(db: Db, node: Node, clock: Clock): Promise<UploadsTable> {
  return checkAlive(await db.first(findById, { id: node.id }), clock)
}

/** The same, and nobody else changes it before this transaction ends. */
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

export async function moveOffset(tx: Transaction, { id }: UploadsTable, file_offset: number): Promise<void> {
  await tx.query.updateTable('uploads').set({ file_offset }).where('id', '=', id).execute()
}

/** All bytes are there and have become a content; from now on the handle stands for it. */
export async function finishUpload(
  tx: Transaction,
  tools: Tools,
  { id }: UploadsTable,
  finished: { handle: string; sha256: string; expires_time: number },
): Promise<void> {
  await tx.query.updateTable('uploads').set(finished).where('id', '=', id).execute()
  await useFile(tx, finished.sha256, id)
  await discardPart(tx, tools, partOf(id))
}

/** Where the bytes of an unfinished upload are. */
export function partOf(id: string): string {
  return id.replace(/^upload:/, '')
}

/** Ends an upload with everything that is left of it. */
export async function deleteUpload(tx: Transaction, tools: Tools, upload: UploadsTable): Promise<void> {
  const { id, sha256, used_time } = upload
  await tx.query.deleteFrom('uploads').where('id', '=', id).execute()
  await tx.query.deleteFrom('nodes').where('id', '=', id).execute()
  if (sha256 === null) await discardPart(tx, tools, partOf(id))
  else if (used_time === null) await releaseFile(tx, tools, sha256, id)
}

/** When the hour of a timer has come: ends the upload, or sets the timer anew because being finished gave it more time. */
export async function expireUpload(tx: Transaction, tools: Tools, id: string): Promise<void> {
  const upload = await lockById(tx, id)
  if (!upload) return
  if (upload.expires_time <= tools.clock.now()) await deleteUpload(tx, tools, upload)
  else await setTimer(tx, tools, { kind: expiryTimer, due_time: upload.expires_time, payload: { id } })
}

/**
 * Uses up a handle, and hands the content over to `used_by`. Undefined when this business has no such handle, or it was used
 * or has expired. Of two that come at the same moment one gets it.
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
  await useFile(tx, sha256, used_by)
  await releaseFile(tx, tools, sha256, id)
  return { sha256, file_type }
}
