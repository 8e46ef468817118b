import { type Signal, useSignal } from '@preact/signals'
import { useCallback, useEffect, useRef } from 'preact/hooks'
import { explain } from '../../data/http.ts'
import { entryKey } from '../../router.ts'
import { useLatest } from '../hooks.ts'
import { joinPages } from './join-pages.ts'
import { keepOrFail, type Load, type Loading, loadFailure } from './loaded.tsx'

interface Page<T> {
  readonly data: readonly T[]
  readonly paging?: { readonly cursors?: { readonly after?: string }; readonly next?: string }
}

export interface Pages<T> extends Loading<readonly T[]> {
  /** Whether the service has more than is shown. */
  readonly hasMore: Signal<boolean>
  readonly isReading: Signal<boolean>
  /** Why the next page could not be read. */
  readonly problem: Signal<string | undefined>
  readonly more: () => Promise<void>
}

interface Kept<T> {
  readonly rows: readonly T[]
  readonly after: string | undefined
}

/** What lists have shown, so that going back finds the same place: by step of the history and key. */
const kept = new Map<string, Kept<unknown>>()
const mostKept = 30

function keep(name: string, pages: Kept<unknown>): void {
  kept.delete(name)
  kept.set(name, pages)
  const [oldest] = kept.keys()
  if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
}

/** A list that has more pages: the first is read when its key changes, the others when somebody wants more. */
export function usePages<T>(
  key: string,
  read: (after: string | undefined) => Promise<Page<T>>,
  idOf: (row: T) => string,
): Pages<T> {
  const name = `${entryKey()} ${key}`
  const before = kept.get(name) as Kept<T> | undefined
  const load = useSignal<Load<readonly T[]>>(before ? { state: 'ready', value: before.rows } : { state: 'loading' })
  const hasMore = useSignal(before?.after !== undefined)
  const isReading = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const after = useRef(before?.after)
  const asked = useRef<object>(undefined)
  const shownName = useRef(before ? name : undefined)
  const show = useLatest((pages: Kept<T>) => {
    load.value = { state: 'ready', value: pages.rows }
    after.current = pages.after
    hasMore.value = pages.after !== undefined
    shownName.current = name
    keep(name, pages)
  })
  const readFirst = useLatest(async (isOther: boolean) => {
    const mine = {}
    asked.current = mine
    const earlier = load.peek()
    if (isOther) load.value = earlier.state === 'ready' ? { ...earlier, isOld: true } : { state: 'loading' }
    try {
      const page = await read(undefined)
      if (asked.current !== mine) return
      const first = { rows: page.data, after: page.paging?.next ? page.paging.cursors?.after : undefined }
      const now = load.peek()
      const isJoined = !isOther && now.state === 'ready'
      show(isJoined ? joinPages(first, { rows: now.value, after: after.current }, idOf) : first)
    } catch (error) {
      if (asked.current === mine) load.value = isOther ? loadFailure(error) : keepOrFail(load.peek(), error)
    }
  })
  const more = useLatest(async () => {
    const now = load.peek()
    if (isReading.peek() || now.state !== 'ready' || after.current === undefined) return
    const question = asked.current
    isReading.value = true
    problem.value = undefined
    try {
      const page = await read(after.current)
      const latest = load.peek()
      if (asked.current !== question || latest.state !== 'ready') return
      const known = new Set(latest.value.map(idOf))
      show({
        rows: [...latest.value, ...page.data.filter((row) => !known.has(idOf(row)))],
        after: page.paging?.next ? page.paging.cursors?.after : undefined,
      })
    } catch (error) {
      problem.value = explain(error)
    } finally {
      isReading.value = false
    }
  })
  useEffect(() => {
    problem.value = undefined
    void readFirst(shownName.current !== name)
  }, [name, readFirst, problem])
  const reload = useCallback(() => readFirst(load.peek().state !== 'ready'), [readFirst, load])
  return { load, reload, hasMore, isReading, problem, more }
}

interface MoreProps<T> {
  readonly of: Pages<T>
  readonly what: string
  /** What one of them is called, where that is not the same without its last letter. */
  readonly one?: string
  /** How many rows are shown, where that is not all that was read. */
  readonly shown?: number
}

/** Below a list: how much of it is shown, and the next page when one comes near it. */
export function More<T>({ of, what, one = what.replace(/s$/, ''), shown }: MoreProps<T>) {
  const foot = useRef<HTMLDivElement>(null)
  const { load, hasMore, isReading, problem, more } = of
  const count = load.value.state === 'ready' ? load.value.value.length : 0
  const isWaiting = hasMore.value && problem.value === undefined
  // Anew with every page: what is in view already says nothing until it has left it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the count says that a page has come.
  useEffect(() => {
    if (!foot.current || !isWaiting) return undefined
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) void more()
      },
      { rootMargin: '300px' },
    )
    observer.observe(foot.current)
    return () => observer.disconnect()
  }, [isWaiting, more, count])
  if (count === 0) return null
  const number = (shown ?? count).toLocaleString()
  return (
    <div class="more" ref={foot}>
      {problem.value !== undefined && <p class="bad">{`Could not load more: ${problem.value}`}</p>}
      {hasMore.value ? (
        <>
          <span class="soft">{`${number} ${what} shown`}</span>
          <button type="button" class="small" disabled={isReading.value} onClick={() => void more()}>
            {isReading.value ? 'Loading…' : 'Show more'}
          </button>
        </>
      ) : (
        <span class="soft">{number === '1' ? `1 ${one}` : `All ${number} ${what} are shown`}</span>
      )}
    </div>
  )
}
