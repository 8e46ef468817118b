import type { Clock } from '../base/clock.ts'
import type { Transaction } from '../db/database.ts'
import type { EventRow, NewEvent } from './new-event.ts'
import { raiseOnPostgres } from './raise-postgres.ts'
import { raiseOnSqlite } from './raise-sqlite.ts'

/**
 * Raises an event, in the transaction of what caused it; there is no other way. Who gets it is settled here and now: every app
 * that is linked to the account, whose business has access to it, and that is subscribed to the field, at the address that it has
 * at this moment. So a change of a subscription takes effect with the next event, and what is under way is not disturbed; a
 * withdrawal of access ends what waits as well (`end-waiting.ts`).
 */
export async function raiseEvent(tx: Transaction, clock: Clock, event: NewEvent): Promise<void> {
  const row: EventRow = {
    ...event,
    phone_number_id: event.phone_number_id ?? '',
    value: typeof event.value === 'string' ? event.value : JSON.stringify(event.value),
    now: clock.now(),
  }
  const lanes = await (tx.engine === 'postgres' ? raiseOnPostgres(tx, row) : raiseOnSqlite(tx, row))
  tx.makeDue({ lanes })
}
