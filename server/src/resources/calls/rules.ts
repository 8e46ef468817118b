import type { CallsTable, PhoneNumbersTable } from '../../db/tables.ts'
import type { Settings } from '../../graph/settings.ts'
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
  sessionRefused,
  sessionRequired,
} from './errors.ts'
import type { CallRequest, Session } from './schemas.ts'
import { inspectDescription } from './sdp/findings.ts'
import { findSdpProblem } from './sdp/form.ts'

type Strictness = Pick<Settings, 'sdpStrict'>

/** The session type for each action; other actions take none. */
const sessionTypes: Readonly<Record<string, Session['sdp_type']>> = {
  connect: 'offer',
  pre_accept: 'answer',
  accept: 'answer',
}

/** What can be checked without reading any call: the target, and whether the session fits. */
export function checkCallRequest(
  { action, to, call_id, session }: CallRequest,
  { habits }: Vocabulary,
  settings: Strictness,
): void {
  if (action === 'connect' && to === undefined) throw recipientRequired()
  if (action === 'connect' && !session && habits.calls_need_session) throw offerMissing()
  if (to === undefined && call_id === undefined) throw callIdRequired()
  checkSession(action, session, settings)
}

/** Throws when a session does not fit the action, or its description is invalid. */
export function checkSession(action: string, session: Session | undefined, settings: Strictness): void {
  if (!session) return
  const expected = sessionTypes[action]
  if (!expected) throw sessionNotTaken({ action })
  if (session.sdp_type !== expected) throw sdpTypeWrong({ expected, action })
  checkSdp(session, settings)
}

export function checkOffer(session: Session, settings: Strictness): void {
  if (session.sdp_type !== 'offer') throw offerRequired()
  checkSdp(session, settings)
}

function checkSdp(session: Session, settings: Strictness): void {
  const problem = findSdpProblem(session.sdp)
  if (problem) throw problem
  checkFindings(session, settings)
}

/** Throws for what is wrong with a description by itself or, where it is known, as the answer to an offer, if that is refused at all. */
function checkFindings({ sdp, sdp_type }: Session, { sdpStrict }: Strictness, offer?: { sdp: string } | null): void {
  if (!sdpStrict) return
  const found = inspectDescription({ sdp, isOffer: sdp_type === 'offer', offer: offer?.sdp })
  const worst = found.find(({ level }) => level === 'error')
  if (!worst) return
  const [fault = '', advice = ''] = worst.message.split('; ')
  throw sessionRefused({ fault, advice, code: worst.code })
}

/** What can be checked of an answer only once the call is known: whether it fits the offer. */
export function checkAnswer(
  { direction, user_session, business_session }: CallsTable,
  session: Session | undefined,
  settings: Strictness,
): void {
  if (session) checkFindings(session, settings, direction === 'USER_INITIATED' ? user_session : business_session)
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
