import { serviceNow } from '../../data/live.ts'
import { writeDay, writeMinutes } from '../../ui/times.ts'

/** Today the time, before that the day. */
export function writeChatTime(seconds: string): string {
  const date = new Date(Number(seconds) * 1000)
  const isToday = new Date(serviceNow()).toDateString() === date.toDateString()
  return isToday ? writeMinutes(date) : writeDay(date)
}
