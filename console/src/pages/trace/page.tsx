import { operatorTracesRetrieve, operatorWhy } from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import './trace.css'
import { nameOf } from '../../data/directory.ts'
import { type FeedItem, readFeedItem } from '../../data/feed-items.ts'
import { client } from '../../data/http.ts'
import { watch } from '../../data/live.ts'
import { place, setQuery } from '../../router.ts'
import { useLatest } from '../../ui/hooks.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { CopyButton, Empty, Head, To } from '../../ui/parts.tsx'
import { SendAgain } from './send-again.tsx'
import { Verdict } from './verdict.tsx'
import { layRows } from './waterfall.ts'
import { Waterfall } from './waterfall-view.tsx'

/** What happens together is read once. */
const pauseMs = 250

/** All that one request set off: what became of it in words, and every step on one axis of time. */
export function TracePage({ trace }: { readonly trace: string }) {
  const read = useLoaded(trace, () => operatorTracesRetrieve(client, trace))
  const why = useLoaded(trace, () => operatorWhy(client, trace))
  const reload = useLatest(() => {
    void read.reload()
    void why.reload()
  })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = watch((one) => {
      if (one.trace === trace) timer ??= setTimeout(again, pauseMs)
    })
    function again() {
      timer = undefined
      reload()
    }
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [trace, reload])
  const missing = (
    <Empty title="This trace is unknown">
      <p>It may have been deleted by age, or belong to somebody whom this session may not see.</p>
      <p>
        <To href="/live">Back to Live</To>
      </p>
    </Empty>
  )
  return (
    <div class="page page-trace">
      <Head title="Trace" lead="All that one request set off, each step below what caused it.">
        <code class="trace-id">{trace}</code>
        <CopyButton text={trace} />
      </Head>
      <Loaded of={why} what="what became of it" missing={null}>
        {(found) => <Verdict of={found} />}
      </Loaded>
      <Loaded of={read} what="the trace" missing={missing}>
        {({ data }) => <Steps items={data.map(readFeedItem)} trace={trace} />}
      </Loaded>
    </div>
  )
}

function Steps({ items, trace }: { readonly items: readonly FeedItem[]; readonly trace: string }) {
  const { query } = place.value
  const by = query.get('by') === 'subscriber' ? 'subscriber' : 'event'
  const event = query.get('event')
  const request = items.find((one) => one.type === 'request')
  return (
    <>
      <div class="tabs">
        <span class="soft">Webhooks by</span>
        {(['event', 'subscriber'] as const).map((one) => (
          <button
            key={one}
            type="button"
            class="small"
            aria-pressed={by === one}
            onClick={() => setQuery({ by: one === 'event' ? undefined : one })}
          >
            {one}
          </button>
        ))}
        <To href={`/deliveries?trace=${trace}`}>In the log of webhooks</To>
      </div>
      <Waterfall rows={layRows(items, by, nameOf)} opened={event === null ? undefined : `event-${event}`} />
      {request && <SendAgain data={request.data} />}
    </>
  )
}
