import { day, hour } from './duration.ts'

/** No zone has ever been further from UTC than this. */
const maxOffset = 16 * hour

/** Zones have names; a bare offset such as +01:00, which the runtime also accepts, is not a zone. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/**
 * The moment at which a calendar day (2027-01-31) ends in a zone. It is found by search, because clocks may be put forward over
 * midnight, and a zone may skip a whole day.
 */
export function endOfDay(date: string, zone: string): number {
  const midnight = Date.parse(date) + day
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  let before = midnight - maxOffset
  let reached = midnight + maxOffset
  while (reached - before > 1) {
    const between = Math.floor((before + reached) / 2)
    if (between + readOffset(format, between) >= midnight) reached = between
    else before = between
  }
  return reached
}

/** How far the wall clock of a zone is ahead of UTC; formatted as GMT, GMT+05:30 or, for early dates, GMT-04:56:02. */
function readOffset(format: Intl.DateTimeFormat, time: number): number {
  const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const match = /^GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(name)
  if (!match) throw new Error(`the runtime wrote an offset as ${name}`)
  const [, sign, hours = 0, minutes = 0, seconds = 0] = match
  const milliseconds = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -milliseconds : milliseconds
}
