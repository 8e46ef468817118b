import { sql } from 'kysely'
import type { Db, Transaction } from '../../db/database.ts'
import { defineSql, defineStatement } from '../../db/statement.ts'

const countMarketingOfChat = defineSql<{ chat_id: string; since: number }>()(
  ({ chat_id, since }) => sql<{ count: number }>`
    SELECT count(*) AS count FROM messages
    WHERE chat_id = ${chat_id} AND type = 'template' AND created_time > ${since} AND state <> 'failed'
      AND pricing ->> 'category' = 'marketing'`,
)

/** The marketing templates that a chat got since a time; those that failed do not count. */
export async function countMarketing(db: Db, chat_id: string, since: number): Promise<number> {
  return Number((await db.first(countMarketingOfChat, { chat_id, since }))?.count ?? 0)
}

// A user's chat alone has this time.
const countUsers = defineSql<{ phone_number_id: string; since: number; limit: number }>()(
  ({ phone_number_id, since, limit }) => sql<{ count: number }>`
    SELECT count(*) AS count FROM (
      SELECT 1 FROM chats WHERE phone_number_id = ${phone_number_id} AND template_time > ${since} LIMIT ${limit}
    ) AS reached`,
)

/** How many users a number has sent a template to outside a window since a time; no further than `limit`. */
export async function countTemplateUsers(
  db: Db,
  phone_number_id: string,
  since: number,
  limit: number,
): Promise<number> {
  return Number((await db.first(countUsers, { phone_number_id, since, limit }))?.count ?? 0)
}

const lockById = defineStatement<{ id: string }>()((db, { id }) =>
  db.selectFrom('phone_numbers').select('id').where('id', '=', id).forNoKeyUpdate(),
)

/** Nobody else counts the users of a number before the transaction ends. */
export function lockNumber(tx: Transaction, id: string): void {
  tx.lock(lockById, { id })
}
