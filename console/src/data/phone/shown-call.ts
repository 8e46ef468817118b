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

/**
 * Whether a call that was read takes the place of the one that a phone shows. One call at a time: another one waits until this one is
 * over. Readings come in any order, and a call never goes back; one that has ended is shown to nobody who has not seen it before.
 */
export function replaces(shown: ShownCall | undefined, read: ShownCall): boolean {
  if (!shown) return isOpen(read)
  if (shown.id === read.id) return states.indexOf(read.state) >= states.indexOf(shown.state)
  if (shown.state === 'ended') return isOpen(read)
  const isDraft = shown.id === undefined
  return isDraft && read.direction === 'USER_INITIATED' && read.phone_number_id === shown.phone_number_id
}
