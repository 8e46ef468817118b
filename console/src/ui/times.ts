// Made once: a new format for every line is most of what drawing a list costs.
const seconds = new Intl.DateTimeFormat([], {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const milliseconds = new Intl.DateTimeFormat([], {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
})
const minutes = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const days = new Intl.DateTimeFormat([], { day: 'numeric', month: 'short' })
const longDays = new Intl.DateTimeFormat([], { day: 'numeric', month: 'long' })
const moments = new Intl.DateTimeFormat([], {
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const momentsOfOtherYears = new Intl.DateTimeFormat([], {
  day: '2-digit',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const exactMoments = new Intl.DateTimeFormat([], {
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const wholeDays = new Intl.DateTimeFormat([], { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const whole = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** `14:03:21` */
export const writeSeconds = (date: Date): string => seconds.format(date)
/** `14:03:21.048` */
export const writeMilliseconds = (date: Date): string => milliseconds.format(date)
/** `14:03` */
export const writeMinutes = (date: Date): string => minutes.format(date)
/** `3 Nov` */
export const writeDay = (date: Date): string => days.format(date)
/** `3 November` */
export const writeLongDay = (date: Date): string => longDays.format(date)
/** `03 Nov, 14:03`; in another year with it. */
export function writeDayAndTime(date: Date): string {
  const isThisYear = date.getFullYear() === new Date().getFullYear()
  return (isThisYear ? moments : momentsOfOtherYears).format(date)
}
/** `03 Nov, 14:03:21` */
export const writeDayAndSeconds = (date: Date): string => exactMoments.format(date)
/** `Tuesday, 3 November 2026` */
export const writeWholeDay = (date: Date): string => wholeDays.format(date)
/** Everything, for whoever asks for it. */
export const writeWhole = (date: Date): string => whole.format(date)
/** `1:05`, of minutes and seconds. */
export function writeLength(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

const spans = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** `2 d 3 h`, `5 min`, `12 s`: the two largest units of a duration in milliseconds. */
export function writeSpan(milliseconds: number): string {
  const all = Math.abs(milliseconds)
  const first = spans.findIndex(([, size]) => all >= size)
  if (first < 0) return `${Math.round(all)} ms`
  const [unit, size] = spans[first] ?? spans[3]
  const whole = Math.floor(all / size)
  const next = spans[first + 1]
  const rest = next ? Math.floor((all % size) / next[1]) : 0
  return next && rest > 0 ? `${whole} ${unit} ${rest} ${next[0]}` : `${whole} ${unit}`
}

/** `1 h ahead`: how a clock differs from the real time, to the second; undefined: it does not. */
export function writeAhead(milliseconds: number): string | undefined {
  const whole = Math.round(milliseconds / 1000) * 1000
  return whole === 0 ? undefined : `${writeSpan(whole)} ${whole > 0 ? 'ahead' : 'behind'}`
}

/** When something is due, seen from a time: `in 12 s`, and `due now` when it is past, because then it is only waited for. */
export function writeDue(at: string, now: number): string {
  const left = Date.parse(at) - now
  return left < 1000 ? 'due now' : `in ${writeSpan(left)}`
}

/** How long ago something was: `2 min 5 s ago`. */
export function writeAgo(at: string, now: number): string {
  const span = now - Date.parse(at)
  return span < 1000 ? 'just now' : `${writeSpan(span)} ago`
}
