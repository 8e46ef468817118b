import {
  type GatewayCallsRetrieveResponse,
  gatewayCallsRetrieve,
  type OperatorFeedListItem,
  operatorFeedList,
  operatorWhy,
} from '@switchboard/client/methods'
import { nameOf } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import { nameUser } from '../../data/phone/names.ts'
import { Loaded, useLoaded } from '../../ui/load/loaded.tsx'
import { Instant, Lasting } from '../../ui/moments.tsx'
import { Badge, Code, Empty, Head, Time, To, When } from '../../ui/parts.tsx'
import { writeLength, writeSpan } from '../../ui/times.ts'
import { writeDigits } from '../phone/summarize.ts'
import { useCallEvents } from './call-events.ts'
import './calls.css'
import { describeEvent } from './describe-event.ts'
import { Findings } from './findings.tsx'
import { explainMissing, listSteps, nameCallState, secondsConnected, type TimedCall, toneOfCall } from './steps.ts'

/** The events that a call raised, the oldest first: a call has one for each step that its business hears of. */
async function listCallEvents({ id, phone_number_id, created_time, ended_time }: GatewayCallsRetrieveResponse) {
  const near = (at: string, by: number) => new Date(Date.parse(at) + by).toISOString()
  const { data } = await operatorFeedList(client, {
    types: 'event',
    phone_number_id,
    since: near(created_time, -1000),
    ...(ended_time !== undefined && { until: near(ended_time, 5000) }),
    limit: 200,
  })
  return data.filter((one) => JSON.stringify(one.data['value'] ?? null).includes(id)).reverse()
}

export function CallPage({ id }: { readonly id: string }) {
  const call = useLoaded(id, () => gatewayCallsRetrieve(client, id))
  useCallEvents(() => void call.reload())
  return (
    <div class="page page-calls">
      <Loaded of={call} what="the call" missing={<Missing id={id} />}>
        {(found) => <OneCallView call={found} />}
      </Loaded>
    </div>
  )
}

function Missing({ id }: { readonly id: string }) {
  return (
    <>
      <Head title="This call does not exist" />
      <Empty title={`No call has the id ${id}`}>
        <p>
          It may be older than the store keeps calls, or a reset has removed it. <To href="/calls">All calls</To>
        </p>
      </Empty>
    </>
  )
}

function OneCallView({ call }: { readonly call: GatewayCallsRetrieveResponse }) {
  const { id, direction, user_wa_id, phone_number_id, findings, created_time } = call
  const isFromUser = direction === 'USER_INITIATED'
  const digits = writeDigits(user_wa_id)
  const name = nameUser(user_wa_id)
  const number = nameOf(phone_number_id)
  const seconds = secondsConnected(call)
  return (
    <>
      <Head title={isFromUser ? `Call of ${name ?? digits}` : `Call to ${name ?? digits}`}>
        <Badge tone={toneOfCall(call)}>{nameCallState(call)}</Badge>
        <To href="/calls">All calls</To>
      </Head>
      <p class="people">
        <span>
          User{' '}
          <bdi>
            <To href={`/resources/user-${user_wa_id}`}>{name ?? digits}</To>
          </bdi>
          {name !== undefined && <span class="soft"> {digits}</span>}
        </span>
        <span>
          Business <To href={`/resources/${phone_number_id}`}>{number}</To>
        </span>
        <span>
          Started <When at={created_time} />
        </span>
        <To href={`/?phones=${user_wa_id}`}>Open the phone</To>
        <span class="mono">{id}</span>
      </p>
      <Verdict call={call} />
      <section class="card">
        <h2>{seconds === undefined ? 'Timeline' : `Timeline: connected for ${writeLength(seconds)}`}</h2>
        <Timeline call={call} />
      </section>
      <Events call={call} />
      {findings.some(({ side }) => side === 'media') && (
        <section class="card">
          <h2>Sound</h2>
          <Findings of={findings} side="media" />
        </section>
      )}
      <div class="two">
        <Side title="Business" side="business" isOffer={!isFromUser} call={call} />
        <Side title="Phone" side="user" isOffer={isFromUser} call={call} />
      </div>
    </>
  )
}

/** What became of the call, as the service says it. */
function Verdict({ call: { id, state, accepted_time } }: { readonly call: GatewayCallsRetrieveResponse }) {
  const why = useLoaded(`why ${id} ${state}`, () => operatorWhy(client, id))
  return (
    <Loaded of={why} what="the verdict" missing={null}>
      {({ sentence, trace }) => (
        <p class="said">
          {/* What the service says is of the moment it was asked, and the call goes on. */}
          {state === 'accepted' && accepted_time !== undefined ? (
            <>
              In progress for <Lasting since={accepted_time} />.
            </>
          ) : (
            sentence
          )}{' '}
          {trace !== null && <To href={`/traces/${trace}`}>Open the trace</To>}
        </p>
      )}
    </Loaded>
  )
}

function Events({ call }: { readonly call: GatewayCallsRetrieveResponse }) {
  const events = useLoaded(`events ${call.id} ${call.state}`, () => listCallEvents(call))
  return (
    <section class="card">
      <h2>Events</h2>
      <Loaded
        of={events}
        what="the events"
        isEmpty={(all) => all.length === 0}
        empty={<p class="soft">No event of this call is stored.</p>}
      >
        {(all) => (
          <ol class="timeline">
            {all.map((one) => (
              <EventRow key={one.id} event={one} />
            ))}
          </ol>
        )}
      </Loaded>
    </section>
  )
}

function EventRow({ event: { time, trace, data } }: { readonly event: OperatorFeedListItem }) {
  return (
    <li>
      <span class="at">
        <Instant at={time} />
      </span>
      <span>
        {describeEvent(data)} {trace !== null && <To href={`/traces/${trace}`}>Trace</To>}
      </span>
    </li>
  )
}

function Timeline({ call }: { readonly call: TimedCall }) {
  return (
    <ol class="timeline">
      {listSteps(call).map(({ name, at, after }) => (
        <li key={name}>
          <span class="at">{at !== undefined && <Time at={at} />}</span>
          <span>
            {name} {after !== undefined && <span class="soft">{`after ${writeSpan(after)}`}</span>}
          </span>
        </li>
      ))}
    </ol>
  )
}

interface SideProps {
  readonly title: string
  readonly side: 'business' | 'user'
  readonly isOffer: boolean
  readonly call: GatewayCallsRetrieveResponse
}

function Side({ title, side, isOffer, call }: SideProps) {
  const sdp = call.sdp[side]
  if (sdp === undefined) {
    return (
      <section class="card">
        <h2>{title}</h2>
        <p class="soft">{explainMissing(call)}</p>
      </section>
    )
  }
  return (
    <section class="card">
      <h2>{`${title}: ${isOffer ? 'offer' : 'answer'}`}</h2>
      <Findings of={call.findings} side={side} />
      <Code label="Session description" text={sdp} />
    </section>
  )
}
