const unitMilliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export const second = unitMilliseconds.s
export const minute = unitMilliseconds.m
export const hour = unitMilliseconds.h
export const day = unitMilliseconds.d

/** Whatever it is added to stays a time of this calendar. */
const longestDuration = 10_000_000 * day
/** The end of the year 9999: later times have no four digits for their year. */
export const latestTime = Date.UTC(10_000, 0, 1) - 1

/** When something ends that begins now; undefined where that is a time that cannot be written, and without a duration. */
export function endAfter(now: number, duration: number | undefined): number | undefined {
  return duration !== undefined && now + duration <= latestTime ? now + duration : undefined
}

/** Parses `200ms`, `5s`, `10m`, `24h` or `7d` as milliseconds; undefined for anything else, and for more than the longest. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim())
  if (!match) return undefined
  const milliseconds = Number(match[1]) * unitMilliseconds[match[2] as keyof typeof unitMilliseconds]
  return milliseconds <= longestDuration ? milliseconds : undefined
}

/** Formats milliseconds in the largest unit that is exact. */
export function formatDuration(milliseconds: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (milliseconds > 0 && milliseconds % unitMilliseconds[unit] === 0) {
      return `${milliseconds / unitMilliseconds[unit]}${unit}`
    }
  }
  return `${milliseconds}ms`
}
