/** Ranges that end now. */
export const spans = [
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** What an address says about time, as the service takes it; what cannot be read is left out. */
export function readRange(
  since: string | null,
  until: string | null,
  now: number,
): { readonly since?: string; readonly until?: string } {
  const from = readMoment(since, now)
  const to = readMoment(until, now)
  return { ...(from !== undefined && { since: from }), ...(to !== undefined && { until: to }) }
}

function readMoment(text: string | null, now: number): string | undefined {
  if (text === null || text === '') return undefined
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? []
  // To the minute, so that the same address asks the same question for a while.
  if (count !== undefined && unit !== undefined) {
    const size = units[unit] ?? 0
    return new Date(Math.floor((now - Number(count) * size) / 60_000) * 60_000).toISOString()
  }
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

/** A time as a field of the browser takes it: `2026-11-18T14:03:21`, in the zone of the browser. */
export function writeLocal(at: string): string {
  const time = Date.parse(at)
  if (Number.isNaN(time)) return ''
  const date = new Date(time)
  return new Date(time - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
