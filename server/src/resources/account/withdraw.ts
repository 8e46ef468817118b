import type { Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { AccountAccess } from '../../db/tables.ts'
import { type EndTools, endWaiting } from '../../delivery/history/end-waiting.ts'
import { unlinkApp } from '../webhooks/store.ts'

const lockAccount = defineStatement<{ account_id: string }>()((db, { account_id }) =>
  db.selectFrom('accounts').select('id').where('id', '=', account_id).forUpdate(),
)

/**
 * Withdraws a basis of a business's access to an account. When no access is left, the links of its apps are removed too, with their
 * callbacks for the account and its numbers, and their waiting deliveries end. A connection gives access of its own, which ends with it alone.
 */
export async function withdrawAccess(
  tx: Transaction,
  tools: EndTools,
  { account_id, business_id, relation }: AccountAccess,
): Promise<void> {
  const { query } = tx
  // Linking an app at the same moment refers to the account: one of the two comes first and the other sees it.
  tx.lock(lockAccount, { account_id })
  await query
    .deleteFrom('account_access')
    .where('account_id', '=', account_id)
    .where('business_id', '=', business_id)
    .where('relation', '=', relation)
    .execute()
  if (relation === 'on_behalf_of') {
    await query
      .deleteFrom('mobility_intents')
      .where('account_id', '=', account_id)
      .where('partner_business_id', '=', business_id)
      .execute()
  }
  const left = await query
    .selectFrom('account_access')
    .select('relation')
    .where('account_id', '=', account_id)
    .where('business_id', '=', business_id)
    .executeTakeFirst()
  if (left) return
  const apps = await query.selectFrom('apps').select('id').where('business_id', '=', business_id).execute()
  for (const { id: app_id } of apps) {
    await unlinkApp(tx, account_id, app_id)
    await endWaiting(tx, tools, { account_id, app_id })
  }
}
