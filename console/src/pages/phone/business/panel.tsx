import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { isDirectoryRead, numbers } from '../../../data/directory.ts'
import type { FeedItem } from '../../../data/feed-items.ts'
import { base } from '../../../data/http.ts'
import { feedItems, past, service, watchRecent } from '../../../data/live.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import type { PhoneNumber } from '../../../data/types.ts'
import { Loaded } from '../../../ui/load/loaded.tsx'
import { Empty, Outline, To } from '../../../ui/parts.tsx'
import { LiveLine } from '../../live/brief-line.tsx'
import { isOwn } from '../../live/filter.ts'
import { memo } from '../memo.ts'
import { Composer } from './composer.tsx'
import './panel.css'

const shownLines = 30
const activityPause = 500

/** What the business sees: its number, a way to write, and what that sets off. */
export function BusinessPanel({ phones }: { readonly phones: readonly Phone[] }) {
  const chosen = useSignal<string | undefined>(undefined)
  const number = numbers.value.find(({ id }) => id === chosen.value) ?? findFirst()
  return (
    <section class="business" aria-label="The business">
      <header class="panel-head">
        <h2 dir="auto">{number?.verified_name || 'The business'}</h2>
        {!isDirectoryRead.value && <Outline kind="select" />}
        {numbers.value.length > 1 && (
          <select
            aria-label="Number of the business"
            value={number?.id ?? ''}
            onChange={(event) => {
              chosen.value = event.currentTarget.value
            }}
          >
            {numbers.value.map(({ id, display_phone_number, verified_name, registered }) => (
              <option key={id} value={id}>
                {`${display_phone_number} ${verified_name}${registered ? '' : ', not registered'}`}
              </option>
            ))}
          </select>
        )}
      </header>
      {number && <Composer key={number.id} number={number} phones={phones} />}
      {!isDirectoryRead.value && <Outline kind="form" />}
      <Activity />
      <Foot />
    </section>
  )
}

/** Counts, apart from the form: they are read again after most of what happens. */
function Foot() {
  return (
    <footer class="panel-foot soft">
      {service.value && (
        <>
          {`${service.value.counts['account'] ?? 0} accounts, ${service.value.counts['phone_number'] ?? 0} numbers · `}
          <a href={`${base}/openapi.json`}>OpenAPI</a> · <a href={`${base}/metrics`}>Metrics</a> ·{' '}
          <a href={`${base}/readyz`}>Ready</a>
        </>
      )}
    </footer>
  )
}

const Line = memo(LiveLine)

/** What happened last: apart from the form, because something happens all the time. */
function Activity() {
  useEffect(watchRecent, [])
  const slowly = takeLast(useSlowly(feedItems, activityPause))
  // What comes first is not waited for: until then it would say that there is nothing.
  const lines = slowly.length === 0 ? takeLast(feedItems.value) : slowly
  return (
    <>
      <header class="panel-head lines-head">
        <h3>Activity</h3>
        <To href="/live" class="soft">
          Show all
        </To>
      </header>
      <div class="mini-live">
        {lines.length === 0 ? (
          <Loaded of={past} what="what happened before">
            {() => (
              <Empty title="Nothing yet">
                <p>Send a message from here, from a phone, or from a terminal.</p>
              </Empty>
            )}
          </Loaded>
        ) : (
          <ol>
            {lines.map((one) => (
              <Line key={one.id} item={one} />
            ))}
          </ol>
        )}
      </div>
    </>
  )
}

/** What a signal holds, looked at once in a while: one message sets off a dozen lines, which need not be drawn one by one. */
function useSlowly<T>(source: ReadonlySignal<T>, pause: number): T {
  const shown = useSignal(source.peek())
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = source.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined
        shown.value = source.peek()
      }, pause)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [source, pause, shown])
  return shown.value
}

/** A number that can send, if there is one. */
function findFirst(): PhoneNumber | undefined {
  return numbers.value.find(({ registered }) => registered) ?? numbers.value[0]
}

/** The newest that are shown, the newest first. */
function takeLast(all: readonly FeedItem[]): FeedItem[] {
  const lines: FeedItem[] = []
  for (let index = all.length - 1; index >= 0 && lines.length < shownLines; index--) {
    const one = all[index]
    if (one && isShown(one)) lines.push(one)
  }
  return lines
}

/** Without what the console itself asks, and what phones show anyway. */
function isShown(one: FeedItem): boolean {
  return !isOwn(one) && one.type !== 'phone' && one.type !== 'timer'
}
