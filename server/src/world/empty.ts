import type { Db } from '../db/database.ts'

/** Whether the store has always been empty. */
export async function isStoreEmpty(db: Db): Promise<boolean> {
  const business = await db.query.selectFrom('businesses').select('id').limit(1).executeTakeFirst()
  return business === undefined
}
