import { sql } from 'kysely'
import type { Db, Transaction } from '../../db/database.ts'
import type { OperatorLimits } from '../../graph/context.ts'
import type { PageRange } from '../../graph/lists/paging.ts'
import { isSeen } from './limits.ts'

/** For operators: an app belongs to a business, and to no account. */
export async function findAppForOperators(db: Db, limits: OperatorLimits | undefined, id: string) {
  return db.query
    .selectFrom('apps')
    .select(['id', 'name', 'business_id', 'redirect_uris', 'require_appsecret_proof'])
    .where('id', '=', id)
    .where(isSeen(limits, { business: sql.ref<string>('apps.business_id') }))
    .executeTakeFirst()
}

/** What is left out stays. The caller has looked whether the operator sees the app. */
export async function updateAppForOperators(
  tx: Transaction,
  id: string,
  {
    redirect_uris,
    require_appsecret_proof,
  }: { readonly redirect_uris?: readonly string[]; readonly require_appsecret_proof?: boolean },
): Promise<void> {
  await tx.query
    .updateTable('apps')
    .set({
      ...(redirect_uris && { redirect_uris: [...redirect_uris] }),
      ...(require_appsecret_proof !== undefined && { require_appsecret_proof }),
    })
    .where('id', '=', id)
    .execute()
}

export async function findBusinessForOperators(db: Db, limits: OperatorLimits | undefined, id: string) {
  return db.query
    .selectFrom('businesses')
    .select('id')
    .where('id', '=', id)
    .where(isSeen(limits, { business: sql.ref<string>('businesses.id') }))
    .executeTakeFirst()
}

/** For operators who see the business. */
export async function listBusinessUsersForOperators(
  db: Db,
  business_id: string,
  user_id: string | undefined,
  range: PageRange,
) {
  let query = db.query
    .selectFrom('business_users')
    .select(['id', 'business_id', 'name', 'email', 'created_time'])
    .where('business_id', '=', business_id)
  if (user_id !== undefined) query = query.where('id', '=', user_id)
  return range.apply(query).execute()
}
