import type { RenderedOffer } from '../../../data/messages.ts'
import { writeSpan } from '../../../ui/times.ts'

/** Whether an offer has ended, by the clock of the service. */
export function hasEnded({ end }: RenderedOffer, now: number): boolean {
  return end !== undefined && end <= now
}

/** How long an offer holds, as a user reads it; undefined: it has no end. */
export function writeEnd(offer: RenderedOffer, now: number): string | undefined {
  if (offer.end === undefined) return undefined
  return hasEnded(offer, now) ? 'This offer has ended' : `Ends in ${writeSpan(Math.max(1000, offer.end - now))}`
}
