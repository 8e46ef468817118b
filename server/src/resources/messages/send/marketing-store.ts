import { sql } from 'kysely'
import type { Db } from '../../../db/database.ts'
import { defineSql } from '../../../db/statement.ts'

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
