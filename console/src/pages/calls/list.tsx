import { gatewayListCalls } from '@switchboard/client/methods'
import { nameOf, numbers } from '../../data/directory.ts'
import { client } from '../../data/http.ts'
import type { ListedCall } from '../../data/types.ts'
import { go, place, setQuery } from '../../router.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { More, usePages } from '../../ui/paged.tsx'
import { Badge, Empty, PageHead, TablePlace, To, When } from '../../ui/parts.tsx'
import { TimeRange, useTimeRange } from '../../ui/time-range.tsx'
import { writeDigits } from '../phone/summarize.ts'
import { useCallEvents } from './call-events.ts'
import './calls.css'
import { nameCallState, secondsConnected, toneOfCall } from './steps.ts'

export function CallsPage() {
  const { query } = place.value
  const phone_number_id = query.get('number') ?? ''
  // As people write a number.
  const user_wa_id = (query.get('user') ?? '').replaceAll(/\D/g, '')
  const range = useTimeRange()
  const list = usePages(
    `calls ${phone_number_id} ${user_wa_id} ${JSON.stringify(range)}`,
    (after) =>
      gatewayListCalls(client, {
        limit: 50,
        ...range,
        ...(phone_number_id !== '' && { phone_number_id }),
        ...(user_wa_id !== '' && { user_wa_id }),
        ...(after !== undefined && { after }),
      }),
    ({ id }) => id,
  )
  useCallEvents(() => void list.reload())
  const isFiltered = phone_number_id !== '' || user_wa_id !== '' || Object.keys(range).length > 0
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
          value={query.get('user') ?? ''}
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
  const seconds = secondsConnected(call)
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
        <Badge tone={toneOfCall(call)}>{nameCallState(call)}</Badge>
      </td>
      <td>{seconds === undefined ? '–' : `${seconds} s`}</td>
      <td class="mono cut">
        <To href={address}>{call.id}</To>
      </td>
    </tr>
  )
}
