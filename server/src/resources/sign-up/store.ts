import type { Transaction } from '../../db/database.ts'
import type { ConnectionsTable } from '../../db/tables.ts'
import type { EndTools } from '../../delivery/history/end-waiting.ts'
import { raisePartnerEvent } from './events.ts'

/**
 * Ends what rests on connections: their tokens are revoked, their codes are gone, and their apps are told. The access of the apps'
 * businesses is the caller's to withdraw.
 */
export async function endLiveConnections(
  tx: Transaction,
  { clock }: Pick<EndTools, 'clock'>,
  ids: readonly string[],
): Promise<ConnectionsTable[]> {
  if (ids.length === 0) return []
  const now = clock.now()
  const ended = await tx.query
    .updateTable('connections')
    .set({ ended_time: now })
    .where('id', 'in', ids)
    .where('ended_time', 'is', null)
    .returningAll()
    .execute()
  for (const connection of ended) {
    await tx.query
      .updateTable('tokens')
      .set({ revoked_time: now })
      .where('connection_id', '=', connection.id)
      .where('revoked_time', 'is', null)
      .execute()
    await tx.query.deleteFrom('sign_up_codes').where('connection_id', '=', connection.id).execute()
    await raisePartnerEvent(tx, clock, 'PARTNER_REMOVED', connection)
  }
  return ended
}

/** The connections of an account that have not ended, the oldest first. */
export function selectLive(tx: Transaction, account_id: string) {
  return tx.query
    .selectFrom('connections')
    .innerJoin('apps', 'apps.id', 'connections.app_id')
    .select('connections.id')
    .where('connections.account_id', '=', account_id)
    .where('connections.ended_time', 'is', null)
    .orderBy('connections.created_time')
    .orderBy('connections.id')
}
