import type { RenderedOffer } from '../../../data/messages.ts'
import { nowTicking } from '../../../ui/moments.tsx'
import { writeWhole } from '../../../ui/times.ts'
import { hasEnded, writeEnd } from './offer-end.ts'
import './offer.css'

/** The band of an offer that holds for a while. */
export function OfferBand({ offer }: { readonly offer: RenderedOffer }) {
  const now = nowTicking()
  const end = writeEnd(offer, now)
  return (
    <div class={`offer ${hasEnded(offer, now) ? 'ended' : ''}`}>
      <b dir="auto">{offer.text}</b>
      {offer.end !== undefined && (
        <time dateTime={new Date(offer.end).toISOString()} title={writeWhole(new Date(offer.end))}>
          {end}
        </time>
      )}
    </div>
  )
}
