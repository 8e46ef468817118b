import { useRef } from 'preact/hooks'
import type { FeedItem } from '../data/feed-items.ts'
import { isOwn, textOf } from './live-line.tsx'

export interface LiveFilter {
  readonly text: string
  readonly type: string
  readonly number: string
  /** Whether the requests of the console itself are shown. */
  readonly showsOwn: boolean
}

interface Shown {
  readonly all: readonly FeedItem[]
  readonly key: string
  readonly lines: readonly FeedItem[]
}

/** What fits a filter, the newest first. Of what only grew, only what was added is looked at. */
export function useShown(all: readonly FeedItem[], filter: LiveFilter): readonly FeedItem[] {
  const before = useRef<Shown>(undefined)
  const key = JSON.stringify(filter)
  if (before.current?.all !== all || before.current.key !== key) {
    before.current = { all, key, lines: findShown(all, filter, key, before.current) }
  }
  return before.current.lines
}

function findShown(all: readonly FeedItem[], filter: LiveFilter, key: string, before: Shown | undefined) {
  const wanted = filter.text.toLowerCase()
  const fits = (one: FeedItem) =>
    (filter.type === '' || one.type === filter.type) &&
    (filter.number === '' || one.phone_number_id === filter.number) &&
    (filter.showsOwn || !isOwn(one)) &&
    (wanted === '' || textOf(one).includes(wanted))
  if (before?.key === key && isBeginning(before.all, all)) {
    const added = all.slice(before.all.length).filter(fits).toReversed()
    return added.length === 0 ? before.lines : [...added, ...before.lines]
  }
  return all.filter(fits).toReversed()
}

/** Whether a list begins with another one: what came late stands in between and moves the last. */
function isBeginning(some: readonly FeedItem[], all: readonly FeedItem[]): boolean {
  return some.length > 0 && all[0] === some[0] && all[some.length - 1] === some.at(-1)
}
