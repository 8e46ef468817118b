import { useSignal } from '@preact/signals'
import { type Client, operatorLanesPause, operatorLanesResume } from '@switchboard/client/methods'
import { useRef } from 'preact/hooks'
import { client } from '../../data/http.ts'
import { serviceNow } from '../../data/live.ts'
import type { Lane } from '../../data/types.ts'
import { beginUpper } from '../../ui/begin-upper.ts'
import { useLoaded } from '../../ui/load/loaded.tsx'
import { Ago } from '../../ui/moments.tsx'
import { Badge, To } from '../../ui/parts.tsx'
import { attempt, say } from '../../ui/toast.tsx'
import { findFirstFailing } from './first-failing.ts'
import { hasFailed, judgeHealth, writeWaiting } from './health.ts'
import { type Place, placeLanes } from './lane-places.ts'
import { moveWaiting } from './move-waiting.ts'
import { ReplayDialog } from './replay-dialog.tsx'
import { writeMoved } from './replay-sentences.ts'

interface SubscribersProps {
  readonly lanes: readonly Lane[]
  readonly reload: () => void
}

/** The health of the subscribers: unhealthy ones first when the page is opened; former subscribers come last, folded. */
export function Subscribers({ lanes, reload }: SubscribersProps) {
  const places = useRef<ReadonlyMap<string, Place>>(new Map())
  if (lanes.length === 0) return null
  places.current = placeLanes(lanes, places.current)
  const byId = new Map(lanes.map((lane) => [lane.id, lane]))
  const at = (wanted: Place) =>
    [...places.current].flatMap(([id, place]) => (place === wanted ? (byId.get(id) ?? []) : []))
  const all = { twins: findTwins(lanes), reload }
  return (
    <section class="subscribers" aria-label="Subscribers">
      <Cards lanes={at('shown')} {...all} />
      <Folded name="Healthy" lanes={at('healthy')} {...all} />
      <Folded name="Not subscribed any more" lanes={at('former')} {...all} />
    </section>
  )
}

/** Names that several subscribers have: an app at several addresses, or apps of the same name. */
function findTwins(lanes: readonly Lane[]): ReadonlySet<string> {
  const byName = Map.groupBy(lanes, ({ app_name }) => app_name)
  return new Set([...byName].flatMap(([name, all]) => (all.length > 1 ? [name] : [])))
}

interface CardsProps extends SubscribersProps {
  readonly twins: ReadonlySet<string>
}

function Cards({ lanes, twins, reload }: CardsProps) {
  if (lanes.length === 0) return null
  return (
    <div class="lanes">
      {lanes.map((lane) => (
        <LaneCard key={lane.id} lane={lane} isTwin={twins.has(lane.app_name)} reload={reload} />
      ))}
    </div>
  )
}

function Folded({ name, ...cards }: CardsProps & { readonly name: string }) {
  const { lanes } = cards
  if (lanes.length === 0) return null
  return (
    <details>
      <summary>{`${name} (${lanes.length.toLocaleString()})`}</summary>
      <Cards {...cards} />
    </details>
  )
}

interface LaneCardProps extends LaneProps {
  readonly isTwin: boolean
}

interface LaneProps {
  readonly lane: Lane
  readonly reload: () => void
}

/** What counts in a line, and what one can do; everything else is below More. */
function LaneCard({ lane, isTwin, reload }: LaneCardProps) {
  const { tone, word, meaning } = judgeHealth(lane)
  const { app_id, app_name, callback_url } = lane
  return (
    <article class={`lane ${tone}`} aria-label={app_name}>
      <header>
        <h2 class="cut" title={app_name}>
          <To href={`/deliveries?app=${encodeURIComponent(app_id)}`}>
            <bdi>{app_name}</bdi>
          </To>
        </h2>
        <Badge tone={tone}>{word}</Badge>
      </header>
      {isTwin && <p class="mono soft address">{callback_url}</p>}
      {tone !== 'plain' && hasFailed(lane) && <Reason lane={lane} />}
      {word === 'Catching up' && <p>{meaning}</p>}
      {tone !== 'plain' && <p class="soft">{writeWaiting(lane)}</p>}
      <div class="row">
        {tone !== 'plain' && <Actions lane={lane} isWell={tone === 'good'} reload={reload} />}
        {tone !== 'plain' && !lane.subscribed && <Move lane={lane} reload={reload} />}
        <details>
          <summary>More</summary>
          <About lane={lane} reload={reload} />
        </details>
      </div>
    </article>
  )
}

/** Sends what waits at a former address to where the app is now. */
function Move({ lane, reload }: LaneProps) {
  const isMoving = useSignal(false)
  const move = async () => {
    isMoving.value = true
    await attempt(async () => {
      const { count, problem } = await moveWaiting(lane)
      if (count > 0) reload()
      say(writeMoved(count, problem), problem === undefined ? 'good' : 'bad')
    })
    isMoving.value = false
  }
  return (
    <button type="button" class="small" disabled={isMoving.value} onClick={() => void move()}>
      {isMoving.value ? 'Sending…' : "Send to the app's callback"}
    </button>
  )
}

function About({ lane, reload }: LaneProps) {
  const { app_id, app_name, callback_url, conversations, waiting, listener } = lane
  const { tone, word, meaning } = judgeHealth(lane)
  const isReplaying = useSignal(false)
  return (
    <div class="lane-more">
      <p class="mono soft">{callback_url}</p>
      {meaning !== '' && word !== 'Catching up' && <p>{meaning}</p>}
      {waiting > 0 && (
        <p class="soft">{`Webhooks wait in ${conversations.toLocaleString()} ${conversations === 1 ? 'conversation' : 'conversations'}.`}</p>
      )}
      {listener && tone === 'bad' && (
        <p class="soft">
          This was <code>./switchboard listen</code>, which has gone;{' '}
          <code>{`./switchboard listen --app ${app_id} --restore`}</code> restores the callback of the app.
        </p>
      )}
      {tone !== 'plain' && (
        <p>
          <button
            type="button"
            class="small"
            onClick={() => {
              isReplaying.value = true
            }}
          >
            Replay failed…
          </button>
        </p>
      )}
      {isReplaying.value && (
        <ReplayDialog
          app={{ id: app_id, name: app_name }}
          onDone={reload}
          onClose={() => {
            isReplaying.value = false
          }}
        />
      )}
    </div>
  )
}

interface ActionsProps extends LaneProps {
  readonly isWell: boolean
}

function Actions({ lane, isWell, reload }: ActionsProps) {
  const { id, app_name, paused_by_operator: isPaused } = lane
  const act = (action: (of: Client, lane: string) => Promise<unknown>, done: string) =>
    attempt(async () => {
      await action(client, id)
      reload()
    }, done)
  return (
    <>
      {isPaused && (
        <button type="button" class="small" onClick={() => void act(operatorLanesResume, `${app_name} is resumed.`)}>
          Resume
        </button>
      )}
      {!isPaused && !isWell && (
        <button
          type="button"
          class="small"
          onClick={() => void act(operatorLanesResume, `${app_name} is attempted now.`)}
        >
          Retry now
        </button>
      )}
      {!isPaused && (
        <button type="button" class="small" onClick={() => void act(operatorLanesPause, `${app_name} is paused.`)}>
          Pause
        </button>
      )}
    </>
  )
}

/** Why a subscriber does not take its webhooks, by the one that it has refused for longest. */
function Reason({ lane }: { readonly lane: Lane }) {
  const { load } = useLoaded(`${lane.id} ${lane.failures} ${lane.waiting > 0}`, () =>
    findFirstFailing(lane, serviceNow()),
  )
  if (load.value.state === 'loading') return <p class="soft reason">Reading why…</p>
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
    <p class="reason">
      <strong class="bad">{beginUpper(found.problem)}</strong>
      {' ('}
      <To href={`/deliveries/${found.id}`}>{`webhook ${found.id}`}</To>
      {', first attempted '}
      <Ago at={found.since} />)
    </p>
  )
}
