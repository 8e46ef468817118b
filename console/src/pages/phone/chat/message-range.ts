/** Which messages of a chat are drawn: from the first to before the second. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** How many are drawn at the most, and how many come with each step. */
const most = 120
const step = 40

/** The newest ones. */
export function rangeAtEnd(count: number): Range {
  return { from: Math.max(0, count - step), to: count }
}

/** More above; what is then far below goes. */
export function extendUp({ from, to }: Range): Range {
  const start = Math.max(0, from - step)
  return { from: start, to: Math.min(to, start + most) }
}

/** More below; what is then far above goes. */
export function extendDown({ from, to }: Range, count: number): Range {
  const end = Math.min(count, to + step)
  return { from: Math.max(from, end - most), to: end }
}

/** Those around one of them. */
export function rangeAround(index: number, count: number): Range {
  const from = Math.max(0, index - step)
  return { from, to: Math.min(count, from + 2 * step) }
}

/**
 * The same range after the list has changed: `first` is where the message that was the first is now, -1 when it is gone. A range at the
 * end stays there, and what arrives makes it longer until it is full.
 */
export function followRange({ from, to }: Range, first: number, before: number, count: number): Range {
  if (first < 0 || from >= before) return rangeAtEnd(count)
  const moved = first - from
  if (to < before) return { from: first, to: Math.min(count, to + moved) }
  return { from: Math.max(first, count - most), to: count }
}
