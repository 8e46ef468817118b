import type { FeedItem } from '../../data/feed-items.ts'

export interface Merged {
  /** What has happened since the page was opened, the oldest first. */
  readonly live: readonly FeedItem[]
  /** What was read back, the newest first. */
  readonly history: readonly FeedItem[]
  readonly key: string
  /** What fits of both, the newest first, each once. */
  readonly items: readonly FeedItem[]
}

type Given = Pick<Merged, 'live' | 'history' | 'key'>

/** Live and history as one list. Of a live list that only grew, only what was added is looked at. */
export function mergeItems(given: Given, fits: (item: FeedItem) => boolean, before: Merged | undefined): Merged {
  const { live, history, key } = given
  if (before?.key === key && before.history === history && isBeginning(before.live, live)) {
    const added = live.slice(before.live.length)
    // One that was read back and then sent is there already.
    const known = before.history.length === 0 ? undefined : new Set(history.map(({ id }) => id))
    const fresh = added.filter((one) => fits(one) && !known?.has(one.id)).toReversed()
    return { ...given, items: fresh.length === 0 ? before.items : [...fresh, ...before.items] }
  }
  const known = new Set(live.map(({ id }) => id))
  const older = history.filter((one) => !known.has(one.id) && fits(one))
  const items = [...live.filter(fits).reverse(), ...older]
  const isInOrder = items.every(({ time }, index) => time <= (items[index - 1]?.time ?? time))
  if (!isInOrder) items.sort((one, other) => (one.time < other.time ? 1 : one.time > other.time ? -1 : 0))
  return { ...given, items }
}

/** Whether a list begins with another one: what came late stands in between and moves the last. */
function isBeginning(some: readonly FeedItem[], all: readonly FeedItem[]): boolean {
  return some.length > 0 && all[0] === some[0] && all[some.length - 1] === some.at(-1)
}
