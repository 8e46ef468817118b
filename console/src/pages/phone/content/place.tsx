import type { Place } from '../../../data/message-parts.ts'
import './place.css'

/** A drawn card: nothing is asked of any map service. */
export function PlaceCard({ place }: { readonly place: Place }) {
  const { latitude, longitude, name, address } = place
  return (
    <div class="place">
      <svg viewBox="0 0 200 90" aria-hidden="true">
        <rect width="200" height="90" class="ground" />
        <path d="M0 60 60 40 120 62 200 30M40 0 70 90M150 0 120 90M0 20h200" class="road" />
        <path d="M100 55s14-12 14-24a14 14 0 0 0-28 0c0 12 14 24 14 24z" class="pin" />
        <circle cx="100" cy="31" r="5" class="hole" />
      </svg>
      {name && <b dir="auto">{name}</b>}
      {address && <span dir="auto">{address}</span>}
      <span class="mono">{`${latitude.toFixed(5)}, ${longitude.toFixed(5)}`}</span>
    </div>
  )
}
