// Made once: a new format for every line is most of what drawing a list costs.
const seconds = new Intl.DateTimeFormat([], {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
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
const whole = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** `14:03:21` */
export const writeSeconds = (date: Date): string => seconds.format(date)
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
/** Everything, for whoever asks for it. */
export const writeWhole = (date: Date): string => whole.format(date)
/** `1:05`, of minutes and seconds. */
export function writeLength(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
