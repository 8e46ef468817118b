import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { MediaTable } from '../../db/tables.ts'
import { releaseFile, useFile } from '../../files/files.ts'
import { addBytes, hasRoom, removeBytes } from '../../files/stored-bytes.ts'
import { notFound } from '../../graph/errors.ts'
import { deleteNode, type Node } from '../../graph/nodes.ts'
import type { Settings } from '../../graph/settings.ts'
import { setTimer } from '../../timers/set.ts'
import { storageFull } from './errors.ts'

/** The dependencies of a write, besides its transaction. */
export interface Tools {
  readonly clock: Clock
  readonly random: Random
}

export const expiryTimer = 'media.expire'

/** The name of a media file's use in the blob store. */
function mediaUse(id: string): string {
  return `media:${id}`
}

/** Refuses a file before its bytes are kept: of what is refused later the bytes stay for a while. */
export async function checkRoom(db: Db, account_id: string, bytes: number, settings: Settings): Promise<void> {
  const max = settings.maxStoredBytes
  if (!(await hasRoom(db, account_id, bytes, max))) throw storageFull({ max })
}

/** With the account of its node, by whose bytes it is counted. */
export type CountedMedia = MediaTable & { readonly account_id: string }

/** The same, with what the account has by now; throws when that is too much. */
export async function insertMediaWithin(
  tx: Transaction,
  tools: Tools,
  mediaFile: CountedMedia,
  settings: Settings,
): Promise<void> {
  const max = settings.maxStoredBytes
  if ((await insertMedia(tx, tools, mediaFile)) > max) throw storageFull({ max })
}

/** Records a media file under its registered id; its blob is already held or used. Returns how many bytes its account has then. */
export async function insertMedia(tx: Transaction, tools: Tools, mediaFile: CountedMedia): Promise<number> {
  const { account_id, ...row } = mediaFile
  const { id, sha256, expires_time, file_size } = row
  useFile(tx, sha256, mediaUse(id))
  await tx.query.insertInto('media').values(row).execute()
  await setTimer(tx, tools, { kind: expiryTimer, due_time: expires_time, payload: { id } })
  return addBytes(tx, account_id, file_size)
}

const findById = defineStatement<{ id: string; now: number }>()((db, { id, now }) =>
  db.selectFrom('media').selectAll().where('id', '=', id).where('expires_time', '>', now),
)

/**
 * The media file of a node, if it belongs to the requested number, when one is given. An expired one counts as gone, though its row is
 * removed a little later.
 */
export async function findMedia(db: Db, node: Node, clock: Clock, phone_number_id?: string): Promise<MediaTable> {
  const mediaFile = await db.first(findById, { id: node.id, now: clock.now() })
  if (!mediaFile || mediaFile.phone_number_id !== (phone_number_id ?? mediaFile.phone_number_id)) throw notFound()
  return mediaFile
}

/** Removes a media file, and returns whether it existed; its blob is removed after its last use. */
export async function deleteMedia(tx: Transaction, tools: Tools, id: string): Promise<boolean> {
  const mediaFile = await tx.query
    .deleteFrom('media')
    .where('id', '=', id)
    .returning(['sha256', 'file_size'])
    .executeTakeFirst()
  if (!mediaFile) return false
  const node = await deleteNode(tx, id)
  await releaseFile(tx, tools, mediaFile.sha256, mediaUse(id))
  if (node?.account_id) removeBytes(tx, node.account_id, mediaFile.file_size)
  return true
}

/** The node of any business's phone number, which owns what users send to it. */
export async function findNumberNodeForGateway(
  db: Db,
  id: string,
): Promise<{ business_id: string; account_id: string } | undefined> {
  return db.query
    .selectFrom('nodes')
    .innerJoin('phone_numbers', 'phone_numbers.id', 'nodes.id')
    .select(['nodes.business_id', 'phone_numbers.account_id'])
    .where('nodes.id', '=', id)
    .executeTakeFirst()
}
