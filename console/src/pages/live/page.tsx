import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import './live.css'
import { apps } from '../../data/directory.ts'
import type { FeedItem } from '../../data/feed-items.ts'
import { feedItems, freshStarts, watchPhones } from '../../data/live.ts'
import { go, place, setQuery } from '../../router.ts'
import { Loaded, type Loading } from '../../ui/load/loaded.tsx'
import { Empty, PageHead, To } from '../../ui/parts.tsx'
import { useTimeRange } from '../../ui/time-range.tsx'
import { linkOf } from './described.ts'
import { Details } from './details.tsx'
import { isFiltering, readLiveFilter, typesToRead } from './filter.ts'
import { LiveFilters } from './filters.tsx'
import { Lines } from './lines.tsx'
import { type Looked, writeLoaded, writeLooking, writeNothing } from './read-on.ts'
import { addDays, groupByTrace, type LiveRow } from './rows.ts'
import { useHistory, useItems } from './use-items.ts'
import { useReadOn } from './use-read-on.ts'

const noItems: readonly FeedItem[] = []

/** One stream of everything: what happens, and below it what happened before. */
export function LivePage() {
  useEffect(watchPhones, [])
  const { query } = place.value
  const filter = readLiveFilter(query, useTimeRange())
  const isGrouped = query.get('group') === '1'
  const paused = useSignal<readonly FeedItem[] | undefined>(undefined)
  const history = useHistory(filter)
  useGapless(freshStarts.value, history.reload)
  const { value: load } = history.load
  const past = load.state === 'ready' ? load.value : noItems
  const items = useItems(paused.value ?? feedItems.value, past, filter, apps.value)
  const open = useSignal<ReadonlySet<string>>(new Set())
  const rows = useMemo<readonly LiveRow[]>(
    () => (isGrouped ? groupByTrace(items, open.value) : addDays(items)),
    [items, isGrouped, open.value],
  )
  const chosen = useSignal<string | undefined>(undefined)
  /** Whether the details of the chosen line are shown. The line stays chosen without them, so that the arrow keys go on from it. */
  const isDetailed = useSignal(false)
  const isNearEnd = useSignal(true)
  const { isLooking, more } = useReadOn(history, JSON.stringify(filter), rows.length === 0, isNearEnd)
  const looked: Looked = {
    shown: items.length,
    back: load.state === 'ready' && load.isOld !== true ? past.at(-1)?.time : undefined,
    hasMore: history.hasMore.value,
    isLooking,
    isFiltered: isFiltering(filter),
    isRecorded: typesToRead(filter.type) !== undefined,
  }
  const choose = (row: LiveRow) => {
    if (row.type === 'group') open.value = toggle(open.value, row.id)
    chosen.value = row.id
    isDetailed.value = true
  }
  const close = () => {
    isDetailed.value = false
  }
  const shown = isDetailed.value ? itemOf(rows.find(({ id }) => id === chosen.value)) : undefined
  const missed = paused.value ? feedItems.value.length - paused.value.length : 0
  return (
    <div class="page full page-live">
      <PageHead of="live">
        <button
          type="button"
          aria-pressed={paused.value !== undefined}
          onClick={() => {
            paused.value = paused.value ? undefined : feedItems.value
          }}
        >
          {paused.value ? `Resume${missed > 0 ? ` (${missed.toLocaleString()} new)` : ''}` : 'Pause'}
        </button>
      </PageHead>
      <LiveFilters filter={filter} isGrouped={isGrouped} />
      <div class="split">
        <div class="list">
          {rows.length === 0 ? (
            <Nothing looked={looked} history={history} />
          ) : (
            <Lines
              rows={rows}
              chosen={chosen}
              onChoose={choose}
              onOpen={openRow}
              onFilter={filterBy}
              onClose={close}
              isNearEnd={isNearEnd}
            />
          )}
          <footer>
            <span class="soft" role="status">
              {writeLoaded(looked)}
            </span>
            {history.problem.value !== undefined && (
              <span class="bad">{`Could not load older lines: ${history.problem.value}`}</span>
            )}
            {load.state === 'failed' && rows.length > 0 && (
              <span class="bad">{`Could not load what happened before: ${load.problem}`}</span>
            )}
            {history.hasMore.value && (
              <button type="button" class="small" disabled={history.isReading.value} onClick={more}>
                {history.isReading.value ? 'Loading…' : 'Load older'}
              </button>
            )}
            {filter.text !== '' && (
              <To href={`/search?q=${encodeURIComponent(filter.text)}`}>Search everything that is kept</To>
            )}
          </footer>
        </div>
        {shown && <Details key={shown.id} item={shown} onFilter={filterBy} onClose={close} />}
      </div>
    </div>
  )
}

/** Reads back again what may be missing: after the stream has begun anew, and after the oldest of ten thousand lines have gone. */
function useGapless(starts: number, reload: () => Promise<void>): void {
  const [first] = feedItems.value
  const oldest = useRef(first)
  const known = useRef(starts)
  useEffect(() => {
    if (known.current !== starts) void reload()
    known.current = starts
  }, [starts, reload])
  useEffect(() => {
    const before = oldest.current
    oldest.current = first
    if (before && first && before.time < first.time) void reload()
  }, [first, reload])
}

interface NothingProps {
  readonly looked: Looked
  readonly history: Loading<readonly FeedItem[]>
}

function Nothing({ looked, history }: NothingProps) {
  const { isLooking, isFiltered, isRecorded, back } = looked
  return (
    <Loaded of={history} what="what happened">
      {() =>
        isLooking ? (
          <p class="looking soft" role="status">
            {writeLooking(back)}
          </p>
        ) : (
          <Empty title={writeNothing(looked)}>
            {!isRecorded && <p>They are shown only as they happen, while this page is open.</p>}
            <p>
              {isFiltered ? <To href="/live">Show everything</To> : 'Send a request to the API, or write on a phone.'}
            </p>
          </Empty>
        )
      }
    </Loaded>
  )
}

function toggle(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return next
}

function itemOf(row: LiveRow | undefined): FeedItem | undefined {
  if (!row || row.type === 'day') return undefined
  if (row.type === 'member') return row.item
  return row.type === 'group' ? row.lead : row
}

function openRow(row: LiveRow): void {
  const item = itemOf(row)
  const link = item && linkOf(item)
  if (link !== undefined) go(link)
}

function filterBy(name: string, value: string): void {
  setQuery({ [name]: value })
}
