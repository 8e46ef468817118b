import { gatewayCallsList } from '@switchboard/client/methods'
import { nameNumber, nameOf, numbers } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import { nameUser, readUserNames } from '../../data/phone/names.ts'
import type { ListedCall } from '../../data/types.ts'
import { go, place, setQuery } from '../../router.ts'
import { Loaded } from '../../ui/load/loaded.tsx'
import { More, usePages } from '../../ui/load/paged.tsx'
import { Exact } from '../../ui/moments.tsx'
import { Badge, Empty, PageHead, TablePlace, To } from '../../ui/parts.tsx'
import { TimeRange, useTimeRange } from '../../ui/time-range.tsx'
import { writeLength } from '../../ui/times.ts'
import { writeDigits } from '../phone/summarize.ts'
import { useCallEvents } from './call-events.ts'
import './calls.css'
import { readNumber } from './read-number.ts'
import { nameCallState, secondsConnected, toneOfCall } from './steps.ts'

export function CallsPage() {
  const { query } = place.value
  const phone_number_id = query.get('number') ?? ''
  const user = query.get('user') ?? ''
  const user_wa_id = readNumber(user)
  return (
    <div class="page page-calls">
      <PageHead of="calls" />
      <search class="filters">
        <input
          type="search"
          data-search=""
          inputMode="tel"
          aria-label="User"
          placeholder="Number of a user"
          value={user}
          aria-invalid={user_wa_id === undefined}
          onChange={(event) => setQuery({ user: event.currentTarget.value })}
        />
        <select
          aria-label="Number"
          value={phone_number_id}
          onChange={(event) => setQuery({ number: event.currentTarget.value })}
        >
          <option value="">All numbers</option>
          {phone_number_id !== '' && !numbers.value.some(({ id }) => id === phone_number_id) && (
            <option value={phone_number_id}>{phone_number_id}</option>
          )}
          {numbers.value.map(({ id, display_phone_number, verified_name }) => (
            <option key={id} value={id}>{`${display_phone_number} ${verified_name}`}</option>
          ))}
        </select>
        <TimeRange />
      </search>
      {user_wa_id === undefined ? (
        <Empty title="Type a phone number">
          <p>
            Calls are found by the number of a user, and “<bdi>{user.trim()}</bdi>” is none.
          </p>
        </Empty>
      ) : (
        <Calls phone_number_id={phone_number_id} user_wa_id={user_wa_id} />
      )}
    </div>
  )
}

interface CallsProps {
  readonly phone_number_id: string
  readonly user_wa_id: string
}

function Calls({ phone_number_id, user_wa_id }: CallsProps) {
  const range = useTimeRange()
  const list = usePages(
    `calls ${phone_number_id} ${user_wa_id} ${JSON.stringify(range)}`,
    async (after) => {
      const [page] = await Promise.all([
        gatewayCallsList(client, {
          limit: 50,
          ...range,
          ...(phone_number_id !== '' && { phone_number_id }),
          ...(user_wa_id !== '' && { user_wa_id }),
          ...(after !== undefined && { after }),
        }),
        readUserNames(),
      ])
      return page
    },
    ({ id }) => id,
  )
  useCallEvents(() => void list.reload())
  const isFiltered = phone_number_id !== '' || user_wa_id !== '' || Object.keys(range).length > 0
  return (
    <Loaded
      of={list}
      what="the calls"
      isEmpty={(rows) => rows.length === 0}
      empty={
        <Empty title={isFiltered ? 'No call matches' : 'No call yet'}>
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
  )
}

function CallTable({ rows }: { readonly rows: readonly ListedCall[] }) {
  return (
    <TablePlace label="Calls">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">Call</th>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">State</th>
            <th scope="col">Duration</th>
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
  const user = <User wa_id={call.user_wa_id} />
  const number = <BusinessNumber id={call.phone_number_id} />
  const address = `/calls/${encodeURIComponent(call.id)}`
  const seconds = secondsConnected(call)
  return (
    <tr
      class="leads"
      onClick={(event) => {
        if (!(event.target as Element).closest('a')) go(address)
      }}
    >
      <td class="cut">
        <Exact at={call.created_time} />
        <bdi class="second mono">
          <To href={address}>{call.id}</To>
        </bdi>
      </td>
      <td class="cut" data-label="From">
        {isFromUser ? user : number}
      </td>
      <td class="cut" data-label="To">
        {isFromUser ? number : user}
      </td>
      <td>
        <Badge tone={toneOfCall(call)}>{nameCallState(call)}</Badge>
      </td>
      <td>{seconds !== undefined && writeLength(seconds)}</td>
    </tr>
  )
}

function User({ wa_id }: { readonly wa_id: string }) {
  const name = nameUser(wa_id)
  if (name === undefined) return <bdi>{writeDigits(wa_id)}</bdi>
  return (
    <>
      <bdi>{name}</bdi>
      <bdi class="second">{writeDigits(wa_id)}</bdi>
    </>
  )
}

function BusinessNumber({ id }: { readonly id: string }) {
  const name = nameNumber(id)
  const number = nameOf(id)
  return (
    <>
      <bdi>{name}</bdi>
      {number !== name && <bdi class="second">{number}</bdi>}
    </>
  )
}
