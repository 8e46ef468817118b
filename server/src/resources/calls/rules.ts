import type { CallsTable, PhoneNumbersTable } from '../../db/tables.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import {
  callerNotRegistered,
  callIdRequired,
  callingOff,
  offerMissing,
  offerRequired,
  recipientRequired,
  sdpTypeWrong,
  sessionNotTaken,
  sessionRequired,
} from './errors.ts'
import type { CallRequest, Session } from './schemas.ts'
import { findSdpProblem } from './sdp/form.ts'

/** The session type for each action; other actions take none. */
const sessionTypes: Readonly<Record<string, Session['sdp_type']>> = {
  connect: 'offer',
  pre_accept: 'answer',
  accept: 'answer',
}

/** What can be checked without reading any call: the target, and whether the session fits. */
export function checkCallRequest({ action, to, call_id, session }: CallRequest, { habits }: Vocabulary): void {
  if (action === 'connect' && to === undefined) throw recipientRequired()
  if (action === 'connect' && !session && habits.calls_need_session) throw offerMissing()
  if (to === undefined && call_id === undefined) throw callIdRequired()
  checkSession(action, session)
}

/** Throws when a session does not fit the action, or its description is invalid. */
export function checkSession(action: string, session: Session | undefined): void {
  if (!session) return
  const expected = sessionTypes[action]
  if (!expected) throw sessionNotTaken({ action })
  if (session.sdp_type !== expected) throw sdpTypeWrong({ expected, action })
  checkSdp(session)
}

export function checkOffer(session: Session): void {
  if (session.sdp_type !== 'offer') throw offerRequired()
  checkSdp(session)
}

function checkSdp({ sdp }: Session): void {
  const problem = findSdpProblem(sdp)
  if (problem) throw problem
}

/** Accepting is the business's last chance to say where its media goes. */
export function checkAnswerIsGiven(call: Pick<CallsTable, 'business_session'>, session: Session | undefined): void {
  if (!session && !call.business_session) throw sessionRequired()
}

/** Throws unless the number can call and be called. */
export function checkCanCall({ registered, calling_enabled }: PhoneNumbersTable): void {
  if (!registered) throw callerNotRegistered()
  if (!calling_enabled) throw callingOff()
}
