import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { nameOf, numbers } from '../data/directory.ts'
import type { FeedItem } from '../data/feed-items.ts'
import { feedItems, past, watchEverything } from '../data/live.ts'
import { go, place, setQuery } from '../router.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Empty, PageHead, Time } from '../ui/parts.tsx'
import { useShown } from './live-filter.ts'
import { describe, linkOf, nameType } from './live-line.tsx'

const types = ['request', 'event', 'delivery', 'try', 'phone', 'timer', 'replay'] as const
const lineHeight = 34
/** Lines that are drawn beyond what is seen. */
const spare = 12

/** One stream of everything. Only what is seen is drawn, so that ten thousand lines cost what thirty do. */
export function LivePage() {
  useEffect(watchEverything, [])
  const { query } = place.value
  const text = query.get('q') ?? ''
  const type = query.get('type') ?? ''
  const number = query.get('number') ?? ''
  const showsOwn = query.get('own') === '1'
  const paused = useSignal<readonly FeedItem[] | undefined>(undefined)
  const all = paused.value ?? feedItems.value
  const shown = useShown(all, { text, type, number, showsOwn })
  const missed = paused.value ? feedItems.value.length - paused.value.length : 0
  return (
    <div class="page full">
      <PageHead of="live">
        <button
          type="button"
          aria-pressed={paused.value !== undefined}
          onClick={() => {
            paused.value = paused.value ? undefined : feedItems.value
          }}
        >
          {paused.value ? `Go on${missed > 0 ? ` (${missed} new)` : ''}` : 'Pause'}
        </button>
      </PageHead>
      <search class="filters">
        <input
          type="search"
          data-search=""
          aria-label="Filter by text"
          placeholder="Filter by text, trace, number…"
          value={text}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <select aria-label="Type" value={type} onChange={(event) => setQuery({ type: event.currentTarget.value })}>
          <option value="">All types</option>
          {types.map((one) => (
            <option key={one} value={one}>
              {nameType(one)}
            </option>
          ))}
        </select>
        <select
          aria-label="Number"
          value={number}
          onChange={(event) => setQuery({ number: event.currentTarget.value })}
        >
          <option value="">All numbers</option>
          {numbers.value.map(({ id, display_phone_number }) => (
            <option key={id} value={id}>
              {display_phone_number}
            </option>
          ))}
        </select>
        <label class="check">
          <input
            type="checkbox"
            checked={showsOwn}
            onChange={(event) => setQuery({ own: event.currentTarget.checked ? '1' : undefined })}
          />
          The console's own requests
        </label>
      </search>
      {shown.length === 0 ? (
        <Loaded of={past} what="what happened">
          {() => (
            <Empty title={text + type + number === '' ? 'Nothing has happened yet' : 'Nothing matches the filter'}>
              <p>Send a request to the API, or write on a phone.</p>
            </Empty>
          )}
        </Loaded>
      ) : (
        <Lines lines={shown} />
      )}
    </div>
  )
}

function Lines({ lines }: { readonly lines: readonly FeedItem[] }) {
  const box = useRef<HTMLDivElement>(null)
  const top = useSignal(0)
  const height = useSignal(600)
  const marked = useSignal<FeedItem | undefined>(undefined)
  const newest = useRef<FeedItem>(undefined)
  // What one reads stays where it is while lines arrive above it.
  useLayoutEffect(() => {
    const element = box.current
    const arrived = newest.current ? lines.indexOf(newest.current) : 0
    newest.current = lines[0]
    if (element && arrived > 0 && top.value > 0) element.scrollTop = top.value + arrived * lineHeight
  }, [lines, top])
  useEffect(() => {
    const element = box.current
    if (!element) return undefined
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [height])
  const first = Math.max(0, Math.floor(top.value / lineHeight) - spare)
  const last = Math.min(lines.length, Math.ceil((top.value + height.value) / lineHeight) + spare)
  const move = (by: number) => {
    const before = marked.value ? lines.indexOf(marked.value) : -1
    const index = Math.max(0, Math.min(lines.length - 1, before + by))
    marked.value = lines[index]
    const at = index * lineHeight
    const element = box.current
    if (!element) return
    if (at < element.scrollTop) element.scrollTop = at
    else if (at + lineHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = at + lineHeight - element.clientHeight
  }
  return (
    <div
      class="lines"
      ref={box}
      role="listbox"
      aria-label="Events, newest first"
      aria-activedescendant={marked.value && `line-${marked.value.id}`}
      tabIndex={0}
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop
      }}
      onKeyDown={(event) => {
        const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }
        const step = steps[event.key]
        if (step !== undefined) {
          event.preventDefault()
          move(step)
        }
        if (event.key === 'Enter' && marked.value) open(marked.value)
      }}
    >
      <div class="lines-all" style={{ height: `${lines.length * lineHeight}px` }}>
        {lines.slice(first, last).map((line, index) => (
          <Line key={line.id} line={line} below={lines.length - 1 - first - index} isMarked={line === marked.value} />
        ))}
      </div>
    </div>
  )
}

function open(line: FeedItem): void {
  const link = linkOf(line)
  if (link !== undefined) go(link)
}

interface LineProps {
  readonly line: FeedItem
  /** How many lines are below: that does not change when others arrive above. */
  readonly below: number
  readonly isMarked: boolean
}

/** Drawn anew only when it has changed: with every line that arrives all of them are looked at. */
function Line({ line, below, isMarked }: LineProps) {
  const name = nameOf(line.phone_number_id)
  return useMemo(() => {
    const { text, result, tone } = describe(line)
    const milliseconds = line.type === 'request' || line.type === 'try' ? line.data.milliseconds : undefined
    return (
      <div
        id={`line-${line.id}`}
        role="option"
        aria-selected={isMarked}
        tabIndex={-1}
        class={`live-row ${isMarked ? 'marked' : ''} ${linkOf(line) === undefined ? '' : 'leads'}`}
        style={{ transform: `translateY(${-below * lineHeight}px)` }}
        onClick={() => open(line)}
        onKeyDown={() => undefined}
      >
        <Time at={line.time} />
        <span class={`type ${line.type}`}>{nameType(line.type)}</span>
        <span class="what">{text}</span>
        <span class="number soft">{name}</span>
        <span class="took soft">{milliseconds === undefined ? '' : `${Math.round(milliseconds)} ms`}</span>
        <Badge tone={tone}>{result}</Badge>
      </div>
    )
  }, [line, below, isMarked, name])
}
