import { sql } from 'kysely'
import type { Transaction } from '../../db/database.ts'
import { defineSql } from '../../db/statement.ts'
import { keysOf } from '../store/lanes.ts'

const findShared = defineSql<{ ids: object }>()(
  ({ ids }) => sql<{ sent_with: string }>`
    SELECT DISTINCT sent_with FROM delivery_attempts
    WHERE delivery_id IN (SELECT CAST(key AS BIGINT) FROM json_each(${ids})) AND sent_with IS NOT NULL`,
)

const forgetOwn = defineSql<{ ids: object }>()(
  ({ ids }) => sql`
    UPDATE delivery_attempts SET answer = NULL, answer_headers = NULL
    WHERE delivery_id IN (SELECT CAST(key AS BIGINT) FROM json_each(${ids}))
      AND (answer IS NOT NULL OR answer_headers IS NOT NULL)`,
)

const forgetShared = defineSql<{ ids: object; posts: object }>()(
  ({ ids, posts }) => sql`
    UPDATE delivery_attempts SET answer = NULL, answer_headers = NULL
    WHERE delivery_id IN (SELECT CAST(key AS BIGINT) FROM json_each(${ids}))
      AND sent_with IN (SELECT key FROM json_each(${posts}))`,
)

/**
 * Removes the responses of subscribers to deliveries whose content goes: they may hold what was sent. A post of several deliveries has
 * its response in the try of each.
 */
export async function forgetResponses(tx: Transaction, deliveries: readonly number[]): Promise<void> {
  if (deliveries.length === 0) return
  const shared = await tx.list(findShared, { ids: keysOf(deliveries) })
  const posts = shared.map(({ sent_with }) => sent_with)
  const others = new Set(posts.flatMap((ids) => ids.split(',').map(Number)))
  if (posts.length > 0) await tx.list(forgetShared, { ids: keysOf(others), posts: keysOf(posts) })
  await tx.list(forgetOwn, { ids: keysOf(deliveries) })
}
