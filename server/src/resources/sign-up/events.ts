import type { Clock } from '../../base/time/clock.ts'
import type { Transaction } from '../../db/database.ts'
import type { ConnectionsTable } from '../../db/tables.ts'
import { conversations } from '../../delivery/raise/conversation.ts'
import { raiseForApp } from '../../delivery/raise/raise-for-app.ts'

/** Tells an app that a business connected an account to it, or that the connection has ended. */
export async function raisePartnerEvent(
  tx: Transaction,
  clock: Clock,
  event: 'PARTNER_ADDED' | 'PARTNER_REMOVED',
  { id, app_id, account_id, business_id }: Pick<ConnectionsTable, 'id' | 'app_id' | 'account_id' | 'business_id'>,
): Promise<void> {
  await raiseForApp(tx, clock, {
    app_id,
    account_id,
    field: 'account_update',
    conversation: conversations.connection(account_id),
    value: { event, waba_info: { waba_id: account_id, owner_business_id: business_id } },
    subject_id: id,
  })
}
