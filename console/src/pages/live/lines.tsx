import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { entryKey } from '../../router.ts'
import { useLatest } from '../../ui/hooks.ts'
import { Line } from './line.tsx'
import type { LiveRow } from './rows.ts'

/** Lines that are drawn beyond what is seen. */
const spare = 12
/** So near to the end more is read. */
const nearEnd = 800

const narrow = matchMedia('(max-width: 40rem)')

/** Where one was in the list, by step of the history: by the line, because others arrive above it. */
const places = new Map<string, { readonly id: string; readonly offset: number }>()

interface LinesProps {
  readonly rows: readonly LiveRow[]
  readonly chosen: ReadonlySignal<string | undefined>
  readonly onChoose: (row: LiveRow) => void
  readonly onOpen: (row: LiveRow) => void
  readonly onFilter: (name: string, value: string) => void
  /** Closes the details of the chosen line. */
  readonly onClose: () => void
  /** Says whether the end of the list is in view, or nearly. */
  readonly isNearEnd: Signal<boolean>
}

/** A list of which only what is seen is drawn, so that ten thousand lines cost what thirty do. */
export function Lines({ rows, chosen, onChoose, onOpen, onFilter, onClose, isNearEnd }: LinesProps) {
  const box = useRef<HTMLDivElement>(null)
  const top = useSignal(0)
  const height = useSignal(600)
  const lineHeight = useSignal(narrow.matches ? 56 : 34)
  const size = lineHeight.value
  const key = entryKey()
  /** The line at the upper edge. */
  const edge = useRef(places.get(key))
  const first = Math.max(0, Math.floor(top.value / size) - spare)
  const last = Math.min(rows.length, Math.ceil((top.value + height.value) / size) + spare)
  const isRestored = useRef(edge.current === undefined)
  // What one reads stays where it is while lines arrive above it, and is found again by whoever comes back.
  useLayoutEffect(() => {
    const element = box.current
    if (!element || !edge.current) return
    if (isRestored.current && element.scrollTop === 0) return
    const { id, offset } = edge.current
    const index = rows.findIndex((row) => row.id === id)
    if (index < 0) return
    isRestored.current = true
    const wanted = index * size + offset
    if (Math.abs(element.scrollTop - wanted) > 1) element.scrollTop = wanted
  }, [rows, size])
  const keepEdge = useLatest((scrollTop: number) => {
    const row = rows[Math.floor(scrollTop / size)]
    edge.current = row && scrollTop > 0 ? { id: row.id, offset: scrollTop % size } : undefined
    if (edge.current) places.set(key, edge.current)
    else places.delete(key)
  })
  useEffect(() => {
    const element = box.current
    if (!element) return undefined
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight
      lineHeight.value = narrow.matches ? 56 : 34
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [height, lineHeight])
  const isNear = top.value + height.value > rows.length * size - nearEnd
  useLayoutEffect(() => {
    isNearEnd.value = isNear
  }, [isNearEnd, isNear])
  const move = (by: number) => {
    const selectable = rows.findIndex(({ id }) => id === chosen.value)
    const row = findNext(rows, selectable, by)
    if (!row) return
    onChoose(row)
    const at = rows.indexOf(row) * size
    const element = box.current
    if (!element) return
    if (at < element.scrollTop) element.scrollTop = at
    else if (at + size > element.scrollTop + element.clientHeight) element.scrollTop = at + size - element.clientHeight
  }
  const rowOf = (target: EventTarget | null) => {
    const id = (target as Element).closest<HTMLElement>('[data-row]')?.dataset['row']
    return id === undefined ? undefined : rows.find((row) => row.id === id)
  }
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: 15,
    PageUp: -15,
    Home: Number.NEGATIVE_INFINITY,
    End: Number.POSITIVE_INFINITY,
  }
  const drawn = rows.slice(first, last)
  const marked = useMemo(() => drawn.some(({ id }) => id === chosen.value), [drawn, chosen.value])
  return (
    <div
      class="lines"
      ref={box}
      role="tree"
      aria-label="Events, newest first"
      {...(marked && { 'aria-activedescendant': `line-${chosen.value}` })}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop } }) => {
        top.value = scrollTop
        isRestored.current = true
        keepEdge(scrollTop)
      }}
      onClick={({ target }) => {
        const value = (target as Element).closest<HTMLElement>('[data-filter]')
        if (value) onFilter(value.dataset['filter'] ?? '', value.dataset['value'] ?? '')
        else {
          const row = rowOf(target)
          if (row && row.type !== 'day') onChoose(row)
        }
      }}
      onDblClick={({ target }) => {
        const row = rowOf(target)
        if (row) onOpen(row)
      }}
      onKeyDown={(event) => {
        const step = steps[event.key]
        const row = rows.find(({ id }) => id === chosen.value)
        if (step !== undefined) move(step)
        else if (event.key === 'Enter' && row) onOpen(row)
        else if (event.key === 'Escape') onClose()
        else if (row?.type === 'group' && event.key === (row.isOpen ? 'ArrowLeft' : 'ArrowRight')) onChoose(row)
        else return
        event.preventDefault()
      }}
    >
      <div class="lines-all" style={{ height: `${rows.length * size}px` }}>
        {drawn.map((row, index) => (
          <Line
            key={row.id}
            row={row}
            offset={-(rows.length - 1 - first - index) * size}
            isChosen={row.id === chosen.value}
          />
        ))}
      </div>
    </div>
  )
}

/** The line so many steps away; lines between days are passed over. */
function findNext(rows: readonly LiveRow[], from: number, by: number): LiveRow | undefined {
  const way = by < 0 ? -1 : 1
  let index = Math.max(0, Math.min(rows.length - 1, from + by))
  while (rows[index]?.type === 'day') index += way
  return rows[index] ?? rows.find(({ type }) => type !== 'day')
}
