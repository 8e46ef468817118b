import { serviceNow } from '../../data/live.ts'
import { writeDay, writeLongDay, writeMinutes } from '../../ui/times.ts'

const dayMs = 86_400_000

/** How many midnights lie between then and now. */
function countDays(date: Date): number {
  const startOf = (time: Date) => new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime()
  // A day on which clocks are set has an hour more or less.
  return Math.round((startOf(new Date(serviceNow())) - startOf(date)) / dayMs)
}

/** Today the time, before that the day. */
export function writeChatTime(seconds: number): string {
  const date = new Date(seconds * 1000)
  const days = countDays(date)
  if (days === 0) return writeMinutes(date)
  return days === 1 ? 'Yesterday' : writeDay(date)
}

/** The day above messages. */
export function writeChatDay(seconds: number): string {
  const date = new Date(seconds * 1000)
  return { 0: 'Today', 1: 'Yesterday' }[countDays(date)] ?? writeLongDay(date)
}
