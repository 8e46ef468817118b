import type { Clock } from '../../base/time/clock.ts'
import type { Cause, Transaction } from '../../db/database.ts'
import { ensureLanes } from '../store/lane-rows.ts'
import { insertEvents, insertEventsDeferred, insertMore } from './insert-events.ts'
import type { EventRow, NewEvent, RaisedFor } from './new-event.ts'
import { hasTarget, listRaisedLanes } from './raised-lanes.ts'
import { addressOf, type Target } from './subscribers.ts'

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
  if (tx.defer) {
    // Nearly always every lane exists; otherwise the transaction runs again, and the missing ones are made below.
    tx.defer(insertEventsDeferred, { events: rows, now }, noteLanes)
    return
  }
  const raised = await tx.list(insertEvents, { events: rows, now })
  const missing = raised.filter(hasTarget).filter(({ lane_id }) => lane_id === null)
  if (missing.length > 0) await insertMissing(tx, now, rows, missing)
  noteLanes(raised)
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

/** Makes the missing lanes, and puts the deliveries into them. */
async function insertMissing(
  tx: Transaction,
  now: number,
  rows: readonly (EventRow & { readonly n: number })[],
  missing: readonly (RaisedFor & Target)[],
): Promise<void> {
  await ensureLanes(tx, missing)
  for (const [event_id, targets] of Map.groupBy(missing, (target) => target.event_id)) {
    const { account_id, field, conversation } = rows[targets[0]?.n ?? 0] as EventRow
    const lanes = Object.fromEntries(targets.map((target) => [addressOf(target).id, 1]))
    const inserted = await tx.list(insertMore, { event_id, lanes, account_id, field, conversation, now })
    if (inserted.length !== targets.length) throw new Error('a delivery was not stored')
  }
}
