import { useSignal } from '@preact/signals'
import { operatorActOnLane } from '@switchboard/client/methods'
import { client } from '../../data/http.ts'
import { serviceNow } from '../../data/live.ts'
import type { Lane } from '../../data/types.ts'
import { useLoaded } from '../../ui/loaded.tsx'
import { Ago, Exact } from '../../ui/moments.tsx'
import { Badge, To } from '../../ui/parts.tsx'
import { attempt } from '../../ui/toast.tsx'
import { findFirstFailing } from './first-failing.ts'
import { judgeHealth, sortLanes, writeWaiting } from './health.ts'
import { ReplayDialog } from './replay-dialog.tsx'

/** With more of them, those that are well are folded. */
const mostShown = 6

interface SubscribersProps {
  readonly lanes: readonly Lane[]
  readonly reload: () => void
}

/** How the subscribers fare: those that need somebody first. */
export function Subscribers({ lanes, reload }: SubscribersProps) {
  const shown = sortLanes(lanes)
  if (shown.length === 0) return null
  const bad = shown.filter((lane) => judgeHealth(lane).tone !== 'good')
  const good = shown.filter((lane) => judgeHealth(lane).tone === 'good')
  const cards = (some: readonly Lane[]) => some.map((lane) => <LaneCard key={lane.id} lane={lane} reload={reload} />)
  if (shown.length <= mostShown) {
    return (
      <section class="lanes" aria-label="Subscribers">
        {cards(shown)}
      </section>
    )
  }
  return (
    <section class="folded-lanes" aria-label="Subscribers">
      {bad.length > 0 && <div class="lanes">{cards(bad)}</div>}
      <details>
        <summary>{`${good.length} healthy ${good.length === 1 ? 'subscriber' : 'subscribers'}`}</summary>
        <div class="lanes">{cards(good)}</div>
      </details>
    </section>
  )
}

function LaneCard({ lane, reload }: { readonly lane: Lane; readonly reload: () => void }) {
  const { tone, word, meaning } = judgeHealth(lane)
  const { id, app_id, app_name, callback_url, paused_by_operator: isPaused } = lane
  const isReplaying = useSignal(false)
  const act = (action: 'pause' | 'resume', done: string) =>
    attempt(async () => {
      await operatorActOnLane(client, id, { action })
      reload()
    }, done)
  return (
    <article class={`lane ${tone}`} aria-label={app_name}>
      <header>
        <h2 class="cut" dir="auto" title={app_name}>
          <To href={`/deliveries?app=${encodeURIComponent(app_id)}`}>{app_name}</To>
        </h2>
        <Badge tone={tone}>{word}</Badge>
      </header>
      <p class="mono cut soft" title={callback_url}>
        {callback_url}
      </p>
      {tone === 'bad' && <Reason lane={lane} />}
      {meaning !== '' && <p>{meaning}</p>}
      <p class="soft">{writeWaiting(lane)}</p>
      {!lane.subscribed && <p class="soft">The app has another callback now.</p>}
      {lane.listener && tone === 'bad' && (
        <p class="soft">
          This was <code>./switchboard listen</code>, which has gone;{' '}
          <code>{`./switchboard listen --app ${app_id} --restore`}</code> restores the callback of the app.
        </p>
      )}
      <div class="row">
        {isPaused && (
          <button type="button" class="small" onClick={() => void act('resume', `${app_name} is resumed.`)}>
            Resume
          </button>
        )}
        {!isPaused && tone === 'bad' && (
          <button type="button" class="small" onClick={() => void act('resume', `${app_name} is attempted now.`)}>
            Retry now
          </button>
        )}
        {!isPaused && (
          <button type="button" class="small" onClick={() => void act('pause', `${app_name} is paused.`)}>
            Pause
          </button>
        )}
        <button
          type="button"
          class="small"
          onClick={() => {
            isReplaying.value = true
          }}
        >
          Replay failed…
        </button>
      </div>
      {isReplaying.value && (
        <ReplayDialog
          app={{ id: app_id, name: app_name }}
          onDone={reload}
          onClose={() => {
            isReplaying.value = false
          }}
        />
      )}
    </article>
  )
}

/** Since when a subscriber does not take its webhooks, and why, by the one that it has refused for longest. */
function Reason({ lane }: { readonly lane: Lane }) {
  const { load } = useLoaded(`${lane.id} ${lane.failures} ${lane.waiting > 0}`, () =>
    findFirstFailing(lane, serviceNow()),
  )
  if (load.value.state === 'loading') return <p class="soft">Reading why…</p>
  if (load.value.state === 'failed') return <p class="bad">{`Why could not be read: ${load.value.problem}`}</p>
  const found = load.value.value
  if (!found) {
    return (
      <p>
        <To href={`/deliveries?state=failed&app=${encodeURIComponent(lane.app_id)}`}>Webhooks that failed</To>
      </p>
    )
  }
  return (
    <>
      <p class="bad reason">{found.problem}</p>
      <p>
        {'Since '}
        <Exact at={found.since} />
        {' ('}
        <Ago at={found.since} />
        {'), first with '}
        <To href={`/deliveries/${found.id}`}>{`webhook ${found.id}`}</To>.
      </p>
    </>
  )
}
