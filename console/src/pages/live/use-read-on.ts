import type { ReadonlySignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { FeedItem } from '../../data/feed-items.ts'
import type { Pages } from '../../ui/load/paged.tsx'
import { beginAnew, isReadOn, type Start } from './read-on.ts'

interface ReadOn {
  /** Whether a page is being read, or will be next. */
  readonly isLooking: boolean
  /** Reads older lines because somebody asks for them. */
  readonly more: () => void
}

/** Reads older lines, one page after the other, while the list is empty or its end in view. */
export function useReadOn(
  history: Pages<FeedItem>,
  key: string,
  isEmpty: boolean,
  isNearEnd: ReadonlySignal<boolean>,
): ReadOn {
  const isAtEnd = isEmpty || isNearEnd.value
  const load = history.load.value
  const isCurrent = load.state === 'ready' && load.isOld !== true
  const lines = isCurrent ? load.value.length : 0
  const start = useRef<Start>({ key, isAtEnd: true, lines: 0, pages: 0 })
  start.current = beginAnew(start.current, { key, isAtEnd, lines })
  const canRead = isCurrent && history.hasMore.value && history.problem.value === undefined
  const readsNext = canRead && isReadOn(start.current, lines)
  const isReading = history.isReading.value
  useEffect(() => {
    // Lines that have just been drawn may have moved the end away.
    if (!readsNext || isReading || !(isEmpty || isNearEnd.peek())) return
    start.current = { ...start.current, pages: start.current.pages + 1 }
    void history.more()
  })
  return {
    isLooking: isReading || readsNext || (load.state === 'ready' && !isCurrent),
    more: () => {
      start.current = { ...start.current, lines, pages: 0 }
      void history.more()
    },
  }
}
