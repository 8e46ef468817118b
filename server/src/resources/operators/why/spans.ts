import { day, hour, minute, second } from '../../../base/time/duration.ts'

/** How long something took, as people say it: two units at most. */
export function writeSpan(milliseconds: number): string {
  const span = Math.max(0, milliseconds)
  if (span < second) return `${Math.round(span)} ms`
  if (span < minute) return `${Math.round(span / second)} s`
  if (span < hour) return writeUnits(span, minute, 'min', second, 's')
  if (span < day) return writeUnits(span, hour, 'h', minute, 'min')
  return writeUnits(span, day, 'd', hour, 'h')
}

function writeUnits(span: number, large: number, largeName: string, small: number, smallName: string): string {
  const rounded = Math.round(span / small) * small
  const rest = (rounded % large) / small
  return `${Math.floor(rounded / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`
}

/** A time, to the second. */
export function writeMoment(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** When something is due that may be so already. */
export function writeDue(time: number, now: number): string {
  return time <= now ? 'due now' : `in ${writeSpan(time - now)}, at ${writeMoment(time)}`
}

export function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
