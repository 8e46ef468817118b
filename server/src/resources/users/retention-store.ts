import { sql } from 'kysely'
import type { Db, Transaction } from '../../db/database.ts'
import { lockFreeRowsOf } from '../../db/row-locks.ts'
import { defineSql } from '../../db/statement.ts'
import { keysOf } from '../../delivery/store/lanes.ts'

/** How many chats one step reads and one transaction removes: few enough that no write waits for long. */
export const stepSize = 200

export interface IdleTimes {
  /** Nothing has happened in the chat since then. */
  readonly before: number
  readonly now: number
}

/**
 * A chat that says nothing more than no chat does: no message is left, no window or limit is open, and the user has neither blocked the
 * number nor stopped its marketing messages. A conversation that is open ends within a day of the last message.
 */
const isIdle = ({ before, now }: IdleTimes) => sql`(c.blocked = FALSE AND c.marketing = 'resume'
  AND c.last_time <= CAST(${before} AS BIGINT) AND COALESCE(c.window_time, 0) <= CAST(${before} AS BIGINT)
  AND COALESCE(c.template_time, 0) <= CAST(${before} AS BIGINT)
  AND c.pair_time <= CAST(${now} AS BIGINT) AND c.typing_until <= CAST(${now} AS BIGINT)
  AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.chat_id = c.id))`

export interface WalkedChat {
  readonly id: string
  readonly is_idle: number
}

const selectChats = defineSql<IdleTimes & { after: string }>()(
  ({ after, before, now }) => sql<WalkedChat>`
    SELECT c.id, CASE WHEN ${isIdle({ before, now })} THEN 1 ELSE 0 END AS is_idle FROM chats c
    WHERE c.id > ${after} ORDER BY c.id LIMIT ${sql.lit(stepSize)}`,
)

/** Chats after a given one by id, with whether they are idle. By time they have no index: every message would have to write it. */
export async function listChatsAfter(db: Db, times: IdleTimes, after: WalkedChat | undefined): Promise<WalkedChat[]> {
  return db.list(selectChats, { ...times, after: after?.id ?? '' })
}

const lockFreeChats = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ id: string }>`
    SELECT c.id FROM chats c WHERE c.id IN (SELECT key FROM json_each(${ids})) ${lockFreeRowsOf('c', 'ForUpdate')}`,
)
const deleteIdleChats = defineSql<IdleTimes & { ids: object }>()(
  ({ ids, before, now }) => sql<{ user_wa_id: string | null }>`
    DELETE FROM chats WHERE id IN (
      SELECT c.id FROM chats c WHERE c.id IN (SELECT key FROM json_each(${ids})) AND ${isIdle({ before, now })}
    ) RETURNING user_wa_id`,
)

const lockFreeUsers = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ wa_id: string }>`
    SELECT u.wa_id FROM users u WHERE u.wa_id IN (SELECT key FROM json_each(${ids})) ${lockFreeRowsOf('u', 'ForUpdate')}`,
)
const deleteUnknownUsers = defineSql<{ ids: object }>()(
  ({ ids }) => sql`
    DELETE FROM users WHERE wa_id IN (SELECT key FROM json_each(${ids}))
      AND presence IS NULL AND auto_read = FALSE AND read_receipts = TRUE AND reachable = TRUE
      AND NOT EXISTS (SELECT 1 FROM chats c WHERE c.user_wa_id = users.wa_id)
      AND NOT EXISTS (SELECT 1 FROM group_participants p WHERE p.user_wa_id = users.wa_id)`,
)

/**
 * Removes chats that are still idle, but for those that somebody else has locked; and with their last chat the users who are in no group
 * and whose phones are set to nothing. Users who never had a chat stay: somebody has made them on purpose.
 */
export async function removeIdleChats(
  tx: Transaction,
  times: IdleTimes,
  ids: readonly string[],
  keepsUsers: boolean,
): Promise<void> {
  const free = (await tx.list(lockFreeChats, { ids: keysOf(ids) })).map(({ id }) => id)
  const gone = await tx.list(deleteIdleChats, { ...times, ids: keysOf(free) })
  const users = gone.flatMap(({ user_wa_id }) => (user_wa_id === null ? [] : [user_wa_id]))
  if (users.length === 0 || keepsUsers) return
  const freeUsers = (await tx.list(lockFreeUsers, { ids: keysOf(users) })).map(({ wa_id }) => wa_id)
  // A message that arrives in this moment may leave a chat without a row of its user, who then has the defaults until the next one.
  await tx.list(deleteUnknownUsers, { ids: keysOf(freeUsers) })
}
