import type { SendingHold } from '../egress/sending-hold.ts'

/** A process that sends nothing serves all the same. */
export function noteHold({ heldSince }: Pick<SendingHold, 'heldSince'>): string | undefined {
  if (heldSince === undefined) return undefined
  return `sending is held since ${new Date(heldSince).toISOString()}: nothing is sent until ./switchboard restored --release`
}
