import type { GatewayCallsRetrieveResponse } from '@switchboard/client/methods'

/** A call as a phone shows it. While the user is making it, it has no id yet. */
export interface ShownCall
  extends Pick<
    GatewayCallsRetrieveResponse,
    'phone_number_id' | 'direction' | 'state' | 'ending' | 'sdp' | 'media_timeout'
  > {
  readonly id: string | undefined
}

const states: readonly ShownCall['state'][] = ['initiated', 'ringing', 'accepted', 'ended']

export function isOpen(call: ShownCall | undefined): call is ShownCall {
  return call !== undefined && call.state !== 'ended'
}

/** Whether the user is making the call, and the service has not heard of it. */
export function isDraft(call: ShownCall | undefined): boolean {
  return isOpen(call) && call.id === undefined
}

/**
 * Whether a call that was read takes the place of the one that a phone shows. One call at a time: another one waits until this one is
 * over, also while this one has no id yet. Readings come in any order, and a call never goes back; one that has ended is shown to nobody
 * who has not seen it before.
 */
export function replaces(shown: ShownCall | undefined, read: ShownCall): boolean {
  if (shown && shown.id === read.id) return states.indexOf(read.state) >= states.indexOf(shown.state)
  return !isOpen(shown) && isOpen(read)
}
