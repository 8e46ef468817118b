import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Transaction } from '../../db/database.ts'
import type { CallsTable } from '../../db/tables.ts'
import { conversations } from '../../delivery/raise/conversation.ts'
import { raiseEvent } from '../../delivery/raise/outbox.ts'
import type { Settings } from '../../graph/settings.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { recordForStream } from '../../stream/stream-record.ts'
import { cancelTimer, setTimer } from '../../timers/set.ts'
import { callIsOpen } from './errors.ts'
import { buildConnectEvent, buildStatusEvent, buildTerminateEvent, type CallNumber } from './events.ts'
import type { Session } from './schemas.ts'
import { streamCall } from './show.ts'
import { type CallAction, type CallDirection, type CallSide, moveCall } from './states.ts'
import { insertCall, lockCall, updateCall } from './store.ts'

/** The context of a step in a call: common to both doors and the timer. */
export interface CallParts {
  readonly db: Transaction
  readonly clock: Clock
  readonly vocabulary: Vocabulary
}

/** The timer that ends an unanswered call. */
export const ringOutTimer = 'calls.ring_out'

export interface NewCall {
  readonly direction: CallDirection
  readonly user_wa_id: string
  readonly user_name?: string | undefined
  readonly session: Session | undefined
  /** What the button that the user called with hands on. */
  readonly cta_payload?: string | undefined
  readonly biz_opaque_callback_data?: string | undefined
}

/** Starts a call and lets it ring; returns its id. Throws when a call between the two is open. */
export async function startCall(
  { db, clock, random, vocabulary, settings }: CallParts & { random: Random; settings: Settings },
  number: CallNumber,
  { direction, user_wa_id, user_name, session, cta_payload, biz_opaque_callback_data }: NewCall,
): Promise<string> {
  const now = clock.now()
  const id = `wacid.${random.bytes(24).toString('base64url')}`
  const byUser = direction === 'USER_INITIATED'
  const ring_timer_id = await setTimer(
    db,
    { clock, random },
    {
      kind: ringOutTimer,
      due_time: now + settings.callRingTime,
      payload: { call_id: id },
    },
  )
  const call: CallsTable = {
    id,
    phone_number_id: number.id,
    user_wa_id,
    user_name: user_name ?? null,
    direction,
    state: 'initiated',
    ending: null,
    business_session: byUser ? null : (session ?? null),
    user_session: byUser && session ? { ...session, ...(cta_payload !== undefined && { cta_payload }) } : null,
    biz_opaque_callback_data: biz_opaque_callback_data ?? null,
    ring_timer_id,
    created_time: now,
    accepted_time: null,
    ended_time: null,
    end_reason: null,
  }
  if (!(await insertCall(db, call))) throw callIsOpen()
  recordForStream(db, now, () => [streamCall(call)])
  if (byUser) await raise({ db, clock }, number, id, [buildConnectEvent(vocabulary, number, call, now)])
  return id
}

export interface Step {
  readonly side: CallSide
  readonly action: CallAction
  readonly session?: Session | undefined
  readonly biz_opaque_callback_data?: string | undefined
  readonly end_reason?: CallsTable['end_reason'] | undefined
  /** Checks the call once it is locked; throws when the step is not allowed. */
  readonly check?: (call: CallsTable) => void
}

/** Moves a call one step by the table of states, and raises its events. Throws the 422 when the step is not possible. */
export async function progressCall(
  { db, clock, vocabulary }: CallParts,
  number: CallNumber,
  found: CallsTable,
  step: Step,
): Promise<void> {
  const { side, action } = step
  // The timer is cancelled before the call is locked, in the order of a firing timer: another order could deadlock.
  const stopsRinging = action === 'accept' || action === 'reject' || action === 'terminate'
  if (stopsRinging && found.ring_timer_id !== null) await cancelTimer(db, found.ring_timer_id)

  const before = await lockCall(db, found)
  const { state, ending } = moveCall(before, side, action)
  step.check?.(before)

  const now = clock.now()
  const changes: Partial<CallsTable> = {
    state,
    ending,
    ...(state !== 'ringing' && { ring_timer_id: null }),
    ...(state === 'accepted' && { accepted_time: now }),
    ...(state === 'ended' && { ended_time: now }),
    ...(step.session && { [side === 'user' ? 'user_session' : 'business_session']: step.session }),
    ...(step.biz_opaque_callback_data !== undefined && { biz_opaque_callback_data: step.biz_opaque_callback_data }),
    ...(step.end_reason !== undefined && { end_reason: step.end_reason }),
  }
  await updateCall(db, before.id, changes)
  const call = { ...before, ...changes }
  recordForStream(db, now, () => [streamCall(call)])
  await raise({ db, clock }, number, before.id, listEvents(vocabulary, number, call, step, now))
}

/**
 * The events after a step: the progress of the business's own call at the user's phone, and the end of any call. A business is not
 * notified of its own actions.
 */
function listEvents(
  vocabulary: Vocabulary,
  number: CallNumber,
  call: CallsTable,
  { side, action }: Step,
  now: number,
): object[] {
  const status = (value: 'RINGING' | 'ACCEPTED' | 'REJECTED') => buildStatusEvent(vocabulary, number, call, value, now)
  const events: object[] = []
  if (side === 'user' && action === 'ringing') events.push(status('RINGING'))
  if (side === 'user' && action === 'accept') {
    events.push(buildConnectEvent(vocabulary, number, call, now), status('ACCEPTED'))
  }
  if (side === 'user' && action === 'reject') events.push(status('REJECTED'))
  if (call.state === 'ended') events.push(buildTerminateEvent(vocabulary, number, call, now))
  return events
}

async function raise(
  { db, clock }: Pick<CallParts, 'db' | 'clock'>,
  { id, account_id }: CallNumber,
  call_id: string,
  values: readonly object[],
): Promise<void> {
  const conversation = conversations.call(call_id)
  for (const value of values) {
    const event = { account_id, phone_number_id: id, field: 'calls', conversation, subject_id: call_id, value }
    await raiseEvent(db, clock, event)
  }
}
