import type { Clock } from '../../base/time/clock.ts'
import type { Cause, Transaction } from '../../db/database.ts'
import { ensureLanes } from '../store/lane-rows.ts'
import { findMissingLanes, insertEvents } from './insert-events.ts'
import type { NewEvent, RaisedFor } from './new-event.ts'
import { listRaisedLanes } from './raised-lanes.ts'

/**
 * Raises an event in the transaction of its cause; there is no other way. The recipients are fixed now: every app that is linked to
 * the account, whose business has access to it, and that is subscribed to the field, at its current address. A change of a
 * subscription therefore takes effect with the next event, and deliveries under way are not disturbed; a withdrawal of access also
 * ends the waiting ones (`end-waiting.ts`).
 */
export async function raiseEvent(tx: Transaction, clock: Clock, event: NewEvent): Promise<void> {
  await raiseEvents(tx, clock, [event])
}

/** The same for several events, in order, with as many statements. */
export async function raiseEvents(tx: Transaction, clock: Clock, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const [rows, now] = [events.map((event, n) => rowOf(event, n, tx.cause)), clock.now()]
  const since = performance.now()
  const noteLanes = (raised: readonly RaisedFor[]) => tx.makeDue({ lanes: listRaisedLanes(raised, rows, now, since) })
  // Nearly always every lane exists; otherwise the transaction runs again without this method.
  if (tx.defer) tx.defer(insertEvents, { events: rows, now }, noteLanes)
  else {
    await ensureLanes(tx, await tx.list(findMissingLanes, { events: rows }))
    noteLanes(await tx.list(insertEvents, { events: rows, now }))
  }
}

function rowOf(
  { value, phone_number_id, account_id, field, conversation, trace, span, subject_id }: NewEvent,
  n: number,
  ofAll: Cause,
) {
  const cause = trace === undefined ? ofAll : { trace, span }
  return {
    n,
    account_id,
    phone_number_id: phone_number_id ?? '',
    // A lone surrogate can neither be stored as text nor sent inside JSON.
    field: field.toWellFormed(),
    conversation: conversation.toWellFormed(),
    value: typeof value === 'string' ? value : JSON.stringify(value),
    trace: cause.trace ?? null,
    span: cause.span ?? null,
    subject_id: subject_id ?? null,
  }
}
