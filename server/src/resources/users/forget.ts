import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { longestStep, walkInSteps } from '../../base/walk.ts'
import type { Database, Transaction } from '../../db/database.ts'
import { eraseUserFromEvents } from '../../delivery/history/erase-user.ts'
import type { FileStore } from '../../files/file-store.ts'
import { removeUnused } from '../../files/files.ts'
import { deleteMedia } from '../media/store.ts'
import { deleteContents } from '../messages/public.ts'
import { listChatsOfUserForOperators, listMessagesOfUser, type UsersMessage } from './forget-store.ts'

export interface ForgetDeps {
  readonly database: Database
  readonly store: FileStore
  readonly clock: Clock
  readonly random: Random
}

export interface Forgotten {
  readonly messages: number
  readonly events: number
  readonly files: number
}

/** Tables that hold something of users which is erased. */
export const rememberingTables = [
  'users',
  'messages',
  'message_contents',
  'events',
  'delivery_attempts',
  'group_participants',
  'group_join_requests',
  'calls',
  'searchable_names',
  'name_words',
]

const stepSize = 200

/**
 * Erases a user's contents, name and settings. Windows, blocks, and the statuses of messages without contents stay. Servers may run
 * meanwhile: each step is a transaction of its own, and repeating all of it does no harm. The bytes of what was deleted are in the files
 * of the database until these tables are scrubbed.
 */
export async function forgetUser(deps: ForgetDeps, wa_id: string): Promise<Forgotten> {
  const { database, clock } = deps
  // First, so that events raised meanwhile no longer carry the name.
  await database.transaction((tx) => eraseNames(tx, wa_id))
  const blobs = new Set<string>()
  let messages = 0
  for (const chat_id of await listChatsOfUserForOperators(database.read, wa_id)) {
    await walkInSteps<UsersMessage>({
      list: (after) =>
        listMessagesOfUser(database.read, { chat_id, wa_id, after: after?.position ?? 0, limit: stepSize }),
      async take(rows) {
        messages += rows.length
        const gone = await database.transaction((tx) => eraseMessages(tx, deps, rows))
        for (const sha256 of gone) blobs.add(sha256)
      },
      size: stepSize,
      // Words far down in the index of the embedded store take milliseconds to remove.
      longest: longestStep,
      isStopped: () => false,
    })
  }
  const events = await eraseUserFromEvents(database, clock, wa_id)
  for (const sha256 of blobs) {
    // Whoever uploads the same bytes at this moment has to upload them again.
    const removed = await database.transaction((tx) => removeUnused(tx, deps, sha256, () => false), { alone: true })
    if (removed) await deps.store.remove(removed)
  }
  return { messages, events, files: blobs.size }
}

async function eraseNames({ query }: Transaction, wa_id: string): Promise<void> {
  await query
    .updateTable('users')
    .set({ name: null, presence: null, auto_read: false, read_receipts: true, reachable: true })
    .where('wa_id', '=', wa_id)
    .execute()
  for (const table of ['group_participants', 'group_join_requests'] as const) {
    await query.updateTable(table).set({ name: null }).where('user_wa_id', '=', wa_id).execute()
  }
  await query.updateTable('calls').set({ user_name: null }).where('user_wa_id', '=', wa_id).execute()
  await query
    .updateTable('calls')
    .set({ user_session: null, business_session: null, biz_opaque_callback_data: null })
    .where('user_wa_id', '=', wa_id)
    .where('state', '=', 'ended')
    .execute()
}

/** Erases what messages say, and the media files that the user sent; returns the blobs that may be unused now. */
async function eraseMessages(tx: Transaction, tools: ForgetDeps, rows: readonly UsersMessage[]): Promise<string[]> {
  const ids = rows.map(({ id }) => id)
  const received = new Set(rows.filter(({ direction }) => direction === 'to_business').map(({ id }) => id))
  const { gone, blobs } = await deleteContents(tx, tools, ids)
  for (const { message_id, content } of gone) {
    const id = received.has(message_id) ? mediaOf(content) : undefined
    if (id !== undefined) await deleteMedia(tx, tools, id)
  }
  await tx.query
    .updateTable('messages')
    .set({ choices: null, biz_opaque_callback_data: null })
    .where('id', 'in', ids)
    .execute()
  return blobs
}

/** The media file of a message, if it was stored here. */
function mediaOf(content: string): string | undefined {
  const { media, value } = JSON.parse(content) as { media?: object; value?: { id?: unknown } }
  return media && typeof value?.id === 'string' ? value.id : undefined
}
