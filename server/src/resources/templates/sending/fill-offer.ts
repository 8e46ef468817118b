import type { TemplateComponent } from '../../../db/tables.ts'
import { type GivenComponent, readTyped, requireObject, requireParameter } from './parameters.ts'
import { componentMissing, parameterCountWrong, parameterWrong } from './sending-errors.ts'

/** An offer as the user gets to see it: what it is called, and until when it holds. */
export interface FilledOffer {
  readonly text: string
  readonly expiration_time_ms?: number
}

export const maxOfferBody = 600
/** Of 2001: a smaller one was meant in seconds. */
const minTime = 1_000_000_000_000
/** As many digits as the years until 2286 have. */
const maxTime = 9_999_999_999_999

/** Fills in the offer of a template that has one. A time that is over is taken: the phone shows that the offer has ended. */
export function fillOffer(
  component: TemplateComponent | undefined,
  given: GivenComponent | undefined,
): FilledOffer | undefined {
  const offer = component?.limited_time_offer
  if (!offer) return undefined
  const { text, has_expiration } = offer
  if (!has_expiration) {
    const found = given?.parameters.length ?? 0
    if (given && found > 0) throw parameterCountWrong({ place: given.place, found, expected: 0 })
    return { text }
  }
  if (!given) {
    throw componentMissing({ kind: 'the limited_time_offer', expected: 'one parameter of type limited_time_offer' })
  }
  const { parameter, place } = requireParameter(given)
  const at = `${place}.limited_time_offer`
  const { expiration_time_ms: time } = requireObject(readTyped(parameter, place, 'limited_time_offer'), at)
  const isWritten = typeof time === 'string' && /^\d{13}$/.test(time)
  const expiration_time_ms = isWritten ? Number(time) : time
  if (
    typeof expiration_time_ms === 'number' &&
    Number.isInteger(expiration_time_ms) &&
    expiration_time_ms >= minTime &&
    expiration_time_ms <= maxTime
  ) {
    return { text, expiration_time_ms }
  }
  throw parameterWrong({ place: `${at}.expiration_time_ms`, expected: 'a Unix time in milliseconds, of 13 digits' })
}
