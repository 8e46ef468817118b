interface Span {
  readonly start: number
  /** Undefined while it goes on: it says nothing about the axis. */
  readonly end: number | undefined
}

interface Stretch {
  readonly from: number
  readonly to: number
  /** Where it begins and ends on the axis, of 0 to 1. */
  readonly left: number
  readonly right: number
  readonly isBreak: boolean
}

export interface TimeAxis {
  readonly start: number
  readonly end: number
  /** Where a time is, of 0 to 1. */
  readonly place: (time: number) => number
  /** Long times in which nothing happened, drawn short: where, and how long each was. */
  readonly breaks: readonly { readonly at: number; readonly milliseconds: number }[]
}

/** The share of the axis that a break has. */
const breakShare = 0.06
/** A pause is a break when it is so many times longer than all in which something happened. */
const breakFactor = 2
const shortestBreak = 200

/** One axis for all spans. A retry after ten minutes does not press everything else into one line: long pauses are drawn short. */
export function makeAxis(spans: readonly Span[]): TimeAxis {
  const busy = mergeSpans(spans)
  const start = busy[0]?.from ?? 0
  const end = Math.max(busy.at(-1)?.to ?? 0, start + 1)
  const active = busy.reduce((sum, { from, to }) => sum + (to - from), 0)
  const isBreak = (pause: number) => pause >= Math.max(shortestBreak, breakFactor * active)
  const parts: { from: number; to: number; isBreak: boolean }[] = []
  for (const [index, { from, to }] of busy.entries()) {
    const before = busy[index - 1]
    if (before && from > before.to) parts.push({ from: before.to, to: from, isBreak: isBreak(from - before.to) })
    if (to > from) parts.push({ from, to, isBreak: false })
  }
  if (parts.length === 0) parts.push({ from: start, to: end, isBreak: false })
  const stretches = placeParts(parts)
  return {
    start,
    end,
    place: (time) => placeIn(stretches, time),
    breaks: stretches
      .filter((one) => one.isBreak)
      .map(({ left, right, from, to }) => ({ at: (left + right) / 2, milliseconds: to - from })),
  }
}

function mergeSpans(spans: readonly Span[]): { from: number; to: number }[] {
  const merged: { from: number; to: number }[] = []
  for (const { start, end = start } of spans.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1)
    if (last && start <= last.to) last.to = Math.max(last.to, end)
    else merged.push({ from: start, to: end })
  }
  return merged
}

function placeParts(parts: readonly { from: number; to: number; isBreak: boolean }[]): Stretch[] {
  const breaks = parts.filter(({ isBreak }) => isBreak).length
  const share = Math.min(breakShare, 0.5 / Math.max(1, breaks))
  const rest = parts.reduce((sum, { from, to, isBreak }) => sum + (isBreak ? 0 : to - from), 0)
  const free = 1 - share * breaks
  let left = 0
  return parts.map((part) => {
    const width = part.isBreak ? share : rest === 0 ? free : (free * (part.to - part.from)) / rest
    const stretch = { ...part, left, right: left + width }
    left += width
    return stretch
  })
}

function placeIn(stretches: readonly Stretch[], time: number): number {
  const found = stretches.find(({ to }) => time <= to) ?? stretches.at(-1)
  if (!found) return 0
  const { from, to, left, right } = found
  const within = Math.min(1, Math.max(0, (time - from) / (to - from)))
  return left + within * (right - left)
}
