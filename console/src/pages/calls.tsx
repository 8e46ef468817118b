import { gatewayListCalls, gatewayReadCall } from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import { nameOf } from '../data/directory.ts'
import { client } from '../data/http.ts'
import { watch } from '../data/live.ts'
import type { Call, ListedCall } from '../data/types.ts'
import { go } from '../router.ts'
import { useLatest } from '../ui/hooks.ts'
import { Loaded, loadedValue, problemOf, useLoaded } from '../ui/loaded.tsx'
import { More, usePages } from '../ui/paged.tsx'
import { Badge, Code, Empty, Head, PageHead, TablePlace, To, When } from '../ui/parts.tsx'
import { writeDigits } from './phone/summarize.ts'
import { inspectSession } from './sdp.ts'

function toneOf({ state, ending }: Pick<Call, 'state' | 'ending'>): string {
  if (state !== 'ended') return 'warn'
  return ending === 'completed' ? 'good' : 'bad'
}

function useCallEvents(reload: () => void): void {
  const latest = useLatest(reload)
  useEffect(
    () =>
      // Not by requests: a request that reads calls would cause the next one.
      watch(({ type, data }) => {
        if (type === 'call' || (type === 'event' && data.field === 'calls')) latest()
      }),
    [latest],
  )
}

export function CallsPage() {
  const list = usePages(
    'calls',
    (after) => gatewayListCalls(client, { limit: 50, ...(after !== undefined && { after }) }),
    ({ id }) => id,
  )
  useCallEvents(() => void list.reload())
  return (
    <div class="page">
      <PageHead of="calls" />
      <Loaded
        of={list}
        what="the calls"
        isEmpty={(rows) => rows.length === 0}
        empty={
          <Empty title="No call yet">
            <p>Call a business from a phone, or let the business call.</p>
          </Empty>
        }
      >
        {(rows) => (
          <>
            <CallTable rows={rows} />
            <More of={list} what="calls" />
          </>
        )}
      </Loaded>
    </div>
  )
}

function CallTable({ rows }: { readonly rows: readonly ListedCall[] }) {
  return (
    <TablePlace label="Calls">
      <table>
        <thead>
          <tr>
            <th scope="col">Started</th>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">State</th>
            <th scope="col">Duration</th>
            <th scope="col">Call</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((call) => (
            <CallRow key={call.id} call={call} />
          ))}
        </tbody>
      </table>
    </TablePlace>
  )
}

function CallRow({ call }: { readonly call: ListedCall }) {
  const isFromUser = call.direction === 'USER_INITIATED'
  const user = writeDigits(call.user_wa_id)
  const number = nameOf(call.phone_number_id)
  const address = `/calls/${encodeURIComponent(call.id)}`
  return (
    <tr
      class="leads"
      onClick={(event) => {
        if (!(event.target as Element).closest('a')) go(address)
      }}
    >
      <td>
        <When at={call.created_time} />
      </td>
      <td>{isFromUser ? user : number}</td>
      <td>{isFromUser ? number : user}</td>
      <td>
        <Badge tone={toneOf(call)}>{(call.ending ?? call.state).replace('_', ' ')}</Badge>
      </td>
      <td>{lengthOf(call)}</td>
      <td class="mono cut">
        <To href={address}>{call.id}</To>
      </td>
    </tr>
  )
}

function lengthOf({ accepted_time, ended_time }: ListedCall): string {
  if (!accepted_time || !ended_time) return '–'
  return `${Math.round((Date.parse(ended_time) - Date.parse(accepted_time)) / 1000)} s`
}

export function CallPage({ id }: { readonly id: string }) {
  const call = useLoaded(id, () => gatewayReadCall(client, id))
  const listed = useLoaded(`list ${id}`, async () => {
    const { data } = await gatewayListCalls(client, { limit: 100 })
    return data.find((one) => one.id === id)
  })
  useCallEvents(() => {
    void call.reload()
    void listed.reload()
  })
  const found = loadedValue(call)
  if (!found) {
    return (
      <div class="page">
        {problemOf(call) ? (
          <Empty title="This call does not exist">{problemOf(call)}</Empty>
        ) : (
          <p class="wait">Loading…</p>
        )}
      </div>
    )
  }
  const times = loadedValue(listed)
  const steps = [
    ['Began', times?.created_time],
    ['Answered', times?.accepted_time],
    ['Ended', times?.ended_time],
  ] as const
  return (
    <div class="page">
      <Head
        title="Call"
        lead={`${found.direction === 'USER_INITIATED' ? 'A user called the business' : 'The business called a user'}: ${writeDigits(found.user_wa_id)} and ${nameOf(found.phone_number_id)}.`}
      >
        <Badge tone={toneOf(found)}>{(found.ending ?? found.state).replace('_', ' ')}</Badge>
      </Head>
      <dl class="facts-list">
        {steps.map(([name, at]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <When at={at} />
            </dd>
          </div>
        ))}
        <div>
          <dt>Call</dt>
          <dd class="mono">{found.id}</dd>
        </div>
      </dl>
      <div class="two">
        <Side title="Business" sdp={found.sdp.business} isOffer={found.direction === 'BUSINESS_INITIATED'} />
        <Side title="Phone" sdp={found.sdp.user} isOffer={found.direction === 'USER_INITIATED'} />
      </div>
    </div>
  )
}

function Side({
  title,
  sdp,
  isOffer,
}: {
  readonly title: string
  readonly sdp: string | undefined
  readonly isOffer: boolean
}) {
  if (sdp === undefined) {
    return (
      <section class="card">
        <h2>{title}</h2>
        <p class="soft">No session description yet.</p>
      </section>
    )
  }
  return (
    <section class="card">
      <h2>{`${title}: ${isOffer ? 'offer' : 'answer'}`}</h2>
      <ul class="findings">
        {inspectSession(sdp, isOffer).map(({ tone, text }) => (
          <li key={text} class={tone}>
            {text}
          </li>
        ))}
      </ul>
      <Code label="Description" text={sdp} />
    </section>
  )
}
