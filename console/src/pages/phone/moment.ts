import { serviceNow } from '../../data/live.ts'

/** Today the time, before that the day. */
export function writeMoment(seconds: string): string {
  const date = new Date(Number(seconds) * 1000)
  const isToday = new Date(serviceNow()).toDateString() === date.toDateString()
  return isToday
    ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false })
    : date.toLocaleDateString([], { day: 'numeric', month: 'short' })
}
