import type { Clock } from '../../base/time/clock.ts'
import type { Transaction } from '../../db/database.ts'
import { ensureLanes } from '../store/lane-rows.ts'
import { accountObject } from '../webhook-fields.ts'
import { insertMore } from './insert-events.ts'
import type { NewEvent } from './new-event.ts'

/** An event that concerns one app alone, whether or not it is linked to the account or its business has access to it. */
export type EventForApp = Omit<NewEvent, 'phone_number_id' | 'trace' | 'span'> & { readonly app_id: string }

/** The callback of an app itself, if it is subscribed: to one field, or to any. */
export async function findOwnCallback(tx: Transaction, app_id: string, field?: string): Promise<string | undefined> {
  const found = await tx.query
    .selectFrom('app_subscriptions')
    .select(['callback_url', 'fields'])
    .where('app_id', '=', app_id)
    .where('object', '=', accountObject)
    .executeTakeFirst()
  return found && (field === undefined || found.fields.includes(field)) ? found.callback_url : undefined
}

/**
 * Raises an event for one app, at its own callback, in the transaction of its cause. Without a subscription to the field the event is
 * stored and goes nowhere. The usual events are raised by `outbox.ts`, whose statements this rare case leaves as they are.
 */
export async function raiseForApp(tx: Transaction, clock: Clock, event: EventForApp): Promise<void> {
  const { app_id, account_id, field, conversation, value, subject_id } = event
  const now = clock.now()
  const { id: event_id } = await tx.query
    .insertInto('events')
    .values({
      account_id,
      phone_number_id: null,
      field,
      value: typeof value === 'string' ? value : JSON.stringify(value),
      created_time: now,
      trace: tx.cause.trace ?? null,
      span: tx.cause.span ?? null,
      subject_id: subject_id ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const callback_url = await findOwnCallback(tx, app_id, field)
  if (callback_url === undefined) return
  const lanes = await ensureLanes(tx, [{ app_id, callback_url }])
  const ids = Object.fromEntries(lanes.map(({ id }) => [id, 1]))
  const inserted = await tx.list(insertMore, { event_id, lanes: ids, account_id, field, conversation, now })
  if (inserted.length !== lanes.length) throw new Error('a delivery was not stored')
  // Who holds them was not asked, so every process looks for them, also among the notes.
  tx.makeDue({ lanes: lanes.map((lane) => ({ ...lane, isNoted: true })) })
}
