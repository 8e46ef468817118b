import { useSignal } from '@preact/signals'
import { operatorLanesList, operatorReplaysList } from '@switchboard/client/methods'
import './deliveries.css'
import { client } from '../../data/http.ts'
import { place } from '../../router.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { More, usePages } from '../../ui/load/paged.tsx'
import { PageHead } from '../../ui/parts.tsx'
import { useTimeRange } from '../../ui/time-range.tsx'
import { readFilter } from './filter.ts'
import { DeliveryFilters } from './filters.tsx'
import { useFollow } from './follow.ts'
import { ReplayDialog, replayChosen } from './replay-dialog.tsx'
import { Replays } from './replays.tsx'
import { Subscribers } from './subscribers.tsx'
import { DeliveryTable, NoWebhook } from './table.tsx'
import { useDeliveryList } from './use-list.ts'

/** The log of webhooks, and how their subscribers fare. */
export function DeliveriesPage() {
  const { query } = place.value
  const filter = readFilter(query, useTimeRange())
  const list = useDeliveryList(filter)
  const lanes = usePages(
    'lanes',
    (after) => operatorLanesList(client, { limit: 200, ...(after !== undefined && { after }) }),
    ({ id }) => id,
  )
  const running = useLoaded('replays', () => operatorReplaysList(client, { state: 'running' }))
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const isReplaying = useSignal(false)
  const reload = () => {
    void list.reload()
    void lanes.reload()
    void running.reload()
  }
  useFollow(reload)
  const choose = (ids: readonly string[], isChosen: boolean) => {
    const next = new Set(chosen.value)
    for (const id of ids) isChosen ? next.add(id) : next.delete(id)
    chosen.value = next
  }
  const sendChosen = async () => {
    if (!(await replayChosen([...chosen.value]))) return
    chosen.value = new Set()
    reload()
  }
  const { value: load } = lanes.load
  const known = load.state === 'ready' ? load.value : []
  return (
    <div class="page page-deliveries">
      <PageHead of="deliveries">
        <button
          type="button"
          onClick={() => {
            isReplaying.value = true
          }}
        >
          Replay…
        </button>
      </PageHead>
      <Loaded of={running} what="the replays">
        {({ data }) => <Replays replays={data} reload={reload} />}
      </Loaded>
      <Loaded of={lanes} what="the subscribers">
        {(found) => (
          <>
            <Subscribers lanes={found} reload={reload} />
            {lanes.hasMore.value && <More of={lanes} what="subscribers" />}
          </>
        )}
      </Loaded>
      <DeliveryFilters filter={filter} />
      <Loaded
        of={list}
        what="the webhooks"
        isEmpty={(rows) => rows.length === 0}
        empty={<NoWebhook isFiltered={query.size > 0} />}
      >
        {(rows) => (
          <div class="list">
            {list.newer.value > 0 && (
              <button type="button" class="newer" onClick={list.showNewer}>
                {`Show ${list.newer.value.toLocaleString()} new ${list.newer.value === 1 ? 'webhook' : 'webhooks'}`}
              </button>
            )}
            <DeliveryTable rows={rows} lanes={known} chosen={chosen.value} onChoose={choose} />
            <More of={list} what="webhooks" />
          </div>
        )}
      </Loaded>
      {chosen.value.size > 0 && (
        <div class="chosen-bar">
          <button type="button" class="main" onClick={() => void sendChosen()}>
            {`Send ${chosen.value.size.toLocaleString()} again`}
          </button>
          <button
            type="button"
            onClick={() => {
              chosen.value = new Set()
            }}
          >
            Choose none
          </button>
        </div>
      )}
      {isReplaying.value && (
        <ReplayDialog
          onDone={reload}
          onClose={() => {
            isReplaying.value = false
          }}
        />
      )}
    </div>
  )
}
