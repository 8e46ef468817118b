import type { CallsTable, PhoneNumbersTable } from '../../db/tables.ts'
import { badArgument, featureOff, ruleBroken } from '../../graph/errors.ts'
import type { CallRequest, Session } from './schemas.ts'
import { findSdpProblem } from './sdp.ts'

const openCallCode = 138003

/** Which description goes with which action; with the others goes none. */
const sessionTypes: Readonly<Record<string, Session['sdp_type']>> = {
  connect: 'offer',
  pre_accept: 'answer',
  accept: 'answer',
}

/** What can be said of a request without looking at any call: who is meant, and whether the session fits. */
export function checkCallRequest({ action, to, call_id, session }: CallRequest): void {
  if (action === 'connect' && to === undefined) throw badArgument('to', 'it is required with connect.')
  if (to === undefined && call_id === undefined) {
    throw badArgument('call_id', 'it is required, unless "to" names the user of an open call.')
  }
  checkSession(action, session)
}

/** Throws when a session is given that does not fit what is done, or whose description is not one. */
export function checkSession(action: string, session: Session | undefined): void {
  if (!session) return
  const expected = sessionTypes[action]
  if (!expected) {
    throw badArgument('session', `it goes with connect, pre_accept or accept; leave it out with ${action}.`)
  }
  if (session.sdp_type !== expected) throw badArgument('session.sdp_type', `it must be ${expected} with ${action}.`)
  checkSdp(session)
}

export function checkOffer(session: Session): void {
  if (session.sdp_type !== 'offer') throw badArgument('session.sdp_type', 'it must be offer when a call starts.')
  checkSdp(session)
}

function checkSdp({ sdp }: Session): void {
  const found = findSdpProblem(sdp)
  if (found) throw badArgument('session.sdp', `line ${found.line} ${found.problem}`)
}

/** Accepting is the last occasion for the business to say where its media goes. */
export function checkAnswerIsGiven(call: Pick<CallsTable, 'business_session'>, session: Session | undefined): void {
  if (!session && !call.business_session) {
    throw badArgument('session', 'it is required with accept, unless pre_accept gave it.')
  }
}

/** Throws unless the number can call and be called. */
export function checkCanCall({ registered, calling_enabled }: PhoneNumbersTable): void {
  if (!registered) throw ruleBroken('The phone number is not registered; register it before calling.')
  if (!calling_enabled) throw featureOff('Calling is switched off for this phone number; have it switched on first.')
}

export function callIsOpen() {
  return ruleBroken('A call between this number and this user is open; wait until it has ended.', openCallCode)
}

export function noOpenCall() {
  return ruleBroken('No call between this number and this user is open; give the call_id, or connect first.')
}
