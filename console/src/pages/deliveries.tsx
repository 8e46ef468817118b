import { useSignal } from '@preact/signals'
import {
  operatorActOnLane,
  operatorListDeliveries,
  operatorListLanes,
  operatorReplayDeliveries,
} from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import { client } from '../data/http.ts'
import { watch } from '../data/live.ts'
import type { Lane } from '../data/types.ts'
import { findObstacle } from '../data/why.ts'
import { place } from '../router.ts'
import { Dialog } from '../ui/dialog.tsx'
import { useLatest } from '../ui/hooks.ts'
import { loadedValue, problemOf, useLoaded } from '../ui/loaded.tsx'
import { Badge, Field, Outline, PageHead, To } from '../ui/parts.tsx'
import { attempt, say } from '../ui/toast.tsx'
import { DeliveryTable, Filters, states } from './delivery-list.tsx'
import { Replays, useReplays } from './replays.tsx'

/** The log of webhooks, and how their subscribers fare. */
export function DeliveriesPage() {
  const { query } = place.value
  const filter = {
    state: states.find((state) => state === query.get('state')),
    app_id: query.get('app') ?? undefined,
    phone_number_id: query.get('number') ?? undefined,
    field: query.get('field') ?? undefined,
  }
  const key = JSON.stringify(filter)
  const list = useLoaded(key, () => operatorListDeliveries(client, { ...filter, limit: 100 }))
  const lanes = useLoaded('lanes', () => operatorListLanes(client, { limit: 100 }))
  const running = useReplays()
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const replays = useSignal(false)
  const reload = () => {
    void list.reload()
    void lanes.reload()
    void running.reload()
  }
  useFollow(reload)
  // All of it at once, so that nothing moves.
  const isLoading = [list, lanes, running].some(({ load }) => load.value.state === 'loading')
  const toggle = (id: string) => {
    const next = new Set(chosen.value)
    if (!next.delete(id)) next.add(id)
    chosen.value = next
  }
  const replay = (body: object) =>
    attempt(async () => {
      const begun = await operatorReplayDeliveries(client, body)
      const { replayed, job } = begun
      if (job) say(`About ${job.total} webhooks are sent again: how far it is, is shown here.`)
      else say(`${replayed} ${replayed === 1 ? 'webhook is' : 'webhooks are'} sent again.`)
      chosen.value = new Set()
      reload()
    })
  return (
    <div class="page">
      <PageHead of="deliveries">
        {chosen.value.size > 0 && (
          <button type="button" class="main" onClick={() => void replay({ ids: [...chosen.value] })}>
            {`Send ${chosen.value.size} again`}
          </button>
        )}
        <button
          type="button"
          onClick={() => {
            replays.value = true
          }}
        >
          Replay…
        </button>
      </PageHead>
      <Replays replays={loadedValue(running)?.data ?? []} reload={reload} />
      {isLoading ? (
        <Outline kind="rest" />
      ) : (
        <>
          <Lanes lanes={loadedValue(lanes)?.data ?? []} reload={reload} />
          <Filters {...filter} />
          {problemOf(list) && <p class="bad">{problemOf(list)}</p>}
          {<DeliveryTable rows={loadedValue(list)?.data ?? []} chosen={chosen.value} onToggle={toggle} />}
        </>
      )}
      {replays.value && (
        <ReplayDialog
          onReplay={replay}
          onClose={() => {
            replays.value = false
          }}
        />
      )}
    </div>
  )
}

/** Loads again after something happened to a webhook, once for many. */
export function useFollow(reload: () => void): void {
  const latest = useLatest(reload)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = watch(({ type }) => {
      if (type !== 'delivery' && type !== 'try' && type !== 'replay') return
      timer ??= setTimeout(() => {
        timer = undefined
        latest()
      }, 400)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [latest])
}

function Lanes({ lanes, reload }: { readonly lanes: readonly Lane[]; readonly reload: () => void }) {
  // An address that an app had before is of interest only while something waits for it.
  const shown = lanes.filter(({ subscribed, waiting }) => subscribed || waiting > 0)
  if (shown.length === 0) return null
  const act = (id: string, action: 'pause' | 'resume') =>
    attempt(async () => {
      await operatorActOnLane(client, id, { action })
      reload()
    })
  return (
    <section class="lanes" aria-label="Subscribers">
      {shown.map((lane) => (
        <LaneCard key={lane.id} lane={lane} onAct={(action) => void act(lane.id, action)} />
      ))}
    </section>
  )
}

/** How a subscriber fares, and if it does not take its webhooks, why. */
function LaneCard({ lane, onAct }: { readonly lane: Lane; readonly onAct: (action: 'pause' | 'resume') => void }) {
  const { app_id, id, failures, down, paused_by_operator: isPaused } = lane
  const isBad = failures > 0 || down
  const obstacle = useLoaded(`${id} ${failures}`, async () => (isBad ? findObstacle(app_id, id) : undefined))
  const found = isBad ? loadedValue(obstacle) : undefined
  const tone = isPaused ? 'warn' : isBad ? 'bad' : 'good'
  const words = isPaused ? 'Paused' : down ? 'Down' : isBad ? 'Failing' : 'Healthy'
  const where = `${lane.conversations} ${lane.conversations === 1 ? 'conversation' : 'conversations'}`
  return (
    <article class={`lane ${tone}`}>
      <header>
        <h2>{lane.app_name}</h2>
        <Badge tone={tone}>{words}</Badge>
      </header>
      <p class="mono cut" title={lane.callback_url}>
        {lane.callback_url}
      </p>
      {isBad && (
        <p class="bad">
          {found ? `Why: ${found.problem}. ` : '…'}
          {found && <To href={`/deliveries/${found.delivery_id}`}>{`Webhook ${found.delivery_id}`}</To>}
        </p>
      )}
      {!lane.subscribed && <p class="soft">The app has another callback now.</p>}
      {lane.listener && isBad && (
        <p class="soft">
          This was <code>./switchboard listen</code>, which has gone;{' '}
          <code>{`./switchboard listen --app ${app_id} --restore`}</code> restores the callback of the app.
        </p>
      )}
      <p class="soft">
        {lane.waiting === 0
          ? 'No webhooks are waiting.'
          : `${lane.waiting} wait in ${where}, the oldest for ${writeAge(lane.oldest_age ?? 0)}.`}
      </p>
      <div class="row">
        {(isPaused || isBad) && (
          <button type="button" class="small" onClick={() => onAct('resume')}>
            {isPaused ? 'Resume' : 'Retry now'}
          </button>
        )}
        {!isPaused && (
          <button type="button" class="small" onClick={() => onAct('pause')}>
            Pause
          </button>
        )}
      </div>
    </article>
  )
}

function writeAge(seconds: number): string {
  if (seconds < 90) return `${seconds} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}

function ReplayDialog({
  onReplay,
  onClose,
}: {
  readonly onReplay: (body: object) => Promise<boolean>
  readonly onClose: () => void
}) {
  return (
    <Dialog title="Send webhooks again" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          const given = new FormData(event.currentTarget)
          const to = String(given.get('to'))
          void onReplay({ state: given.get('state'), since: given.get('since'), ...(to !== '' && { to }) }).then(
            (isDone) => {
              if (isDone) onClose()
            },
          )
        }}
      >
        <Field label="Which">
          <select name="state">
            <option value="failed">All failed webhooks</option>
            <option value="delivered">All delivered webhooks</option>
          </select>
        </Field>
        <Field label="Since" hint="How long ago, such as 10m or 24h.">
          <input name="since" required value="1h" />
        </Field>
        <Field label="To another address" hint="Empty: the callback of each app.">
          <input name="to" type="url" placeholder="http://127.0.0.1:3000/hook" />
        </Field>
        <button type="submit" class="main">
          Send again
        </button>
      </form>
    </Dialog>
  )
}
