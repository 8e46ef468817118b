import { useSignal } from '@preact/signals'
import {
  operatorActOnLane,
  operatorListDeliveries,
  operatorListLanes,
  operatorReplayDeliveries,
} from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import { apps, nameOf, numbers } from '../data/directory.ts'
import { client } from '../data/http.ts'
import { watch } from '../data/live.ts'
import type { Lane } from '../data/types.ts'
import { findObstacle } from '../data/why.ts'
import { go, place, setQuery } from '../router.ts'
import { useLatest } from '../ui/hooks.ts'
import { attempt, Badge, Dialog, Empty, Field, Head, say, TablePlace, To, useLoaded, When } from '../ui/parts.tsx'
import { toneOfState } from './live-line.tsx'
import { Replays, useReplays } from './replays.tsx'

const states = ['waiting', 'failing', 'delivered', 'failed', 'withdrawn'] as const

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
  const rows = list.value.value?.data ?? []
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
      <Head title="Deliveries" lead="Every webhook, what was sent, and what came back.">
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
      </Head>
      <Replays replays={running.value.value?.data ?? []} reload={reload} />
      <Lanes lanes={lanes.value.value?.data ?? []} reload={reload} />
      <search class="filters">
        <select
          aria-label="State"
          data-search=""
          value={filter.state ?? ''}
          onChange={(event) => setQuery({ state: event.currentTarget.value })}
        >
          <option value="">All states</option>
          {states.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
        <select
          aria-label="App"
          value={filter.app_id ?? ''}
          onChange={(event) => setQuery({ app: event.currentTarget.value })}
        >
          <option value="">All apps</option>
          {apps.value.map(({ id, name }) => (
            <option key={id} value={id}>
              {name ?? id}
            </option>
          ))}
        </select>
        <select
          aria-label="Number"
          value={filter.phone_number_id ?? ''}
          onChange={(event) => setQuery({ number: event.currentTarget.value })}
        >
          <option value="">All numbers</option>
          {numbers.value.map(({ id, display_phone_number }) => (
            <option key={id} value={id}>
              {display_phone_number}
            </option>
          ))}
        </select>
      </search>
      {list.problem.value && <p class="bad">{list.problem.value}</p>}
      {rows.length === 0 && list.value.value ? (
        <Empty title="No webhook">
          <p>
            An event becomes a webhook when an app is linked to the account and subscribed to its field.{' '}
            <To href="/connect">Connect your app</To>
          </p>
        </Empty>
      ) : (
        <TablePlace label="Webhooks">
          <table>
            <thead>
              <tr>
                <th scope="col">
                  <span class="unseen">Choose</span>
                </th>
                <th scope="col">Webhook</th>
                <th scope="col">State</th>
                <th scope="col">Field</th>
                <th scope="col">Callback</th>
                <th scope="col">App</th>
                <th scope="col" class="right">
                  Tries
                </th>
                <th scope="col">Raised</th>
                <th scope="col">Next try</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.id} class="leads" onClick={(event) => openRow(event, row.id)}>
                  <td>
                    <input
                      type="checkbox"
                      aria-label={`Choose webhook ${row.id}`}
                      checked={chosen.value.has(row.id)}
                      onChange={() => toggle(row.id)}
                    />
                  </td>
                  <td>
                    <To href={`/deliveries/${row.id}`}>{row.id}</To>
                  </td>
                  <td>
                    {row.state === 'waiting' && row.attempts > 0 ? (
                      <Badge tone="bad">failing</Badge>
                    ) : (
                      <Badge tone={toneOfState(row.state)}>{row.state}</Badge>
                    )}
                  </td>
                  <td>{row.field}</td>
                  <td class="mono cut" title={row.callback_url}>
                    {row.callback_url}
                  </td>
                  <td>{nameOf(row.app_id)}</td>
                  <td class="right">{row.attempts}</td>
                  <td>
                    <When at={row.created_time} />
                  </td>
                  <td>
                    <When at={row.next_time} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TablePlace>
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

function openRow(event: MouseEvent, id: string): void {
  if (!(event.target as Element).closest('a, input')) go(`/deliveries/${id}`)
}

/** Loads again after something happened to a webhook, once for many. */
export function useFollow(reload: () => void): void {
  const latest = useLatest(reload)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = watch(({ type }) => {
      if (type !== 'delivery' && type !== 'try') return
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
  if (lanes.length === 0) return null
  const act = (id: string, action: 'pause' | 'resume') =>
    attempt(async () => {
      await operatorActOnLane(client, id, { action })
      reload()
    })
  return (
    <section class="lanes" aria-label="Subscribers">
      {lanes.map((lane) => (
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
  const found = isBad ? obstacle.value.value : undefined
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
      {found && (
        <p class="bad">
          {`Why: ${found.problem}. `}
          <To href={`/deliveries/${found.delivery_id}`}>{`Webhook ${found.delivery_id}`}</To>
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
            {isPaused ? 'Resume' : 'Try now'}
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

export function writeAge(seconds: number): string {
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
