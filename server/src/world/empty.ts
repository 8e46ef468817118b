import type { Db } from '../db/database.ts'

/** Whether nothing has ever been put into the store. */
export async function isStoreEmpty(db: Db): Promise<boolean> {
  const business = await db.query.selectFrom('businesses').select('id').limit(1).executeTakeFirst()
  return business === undefined
}
