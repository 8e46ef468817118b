import { apps, nameOf, numbers } from '../data/directory.ts'
import type { Delivery } from '../data/types.ts'
import { go, setQuery } from '../router.ts'
import { Badge, Empty, TablePlace, To, When } from '../ui/parts.tsx'
import { toneOfState } from './live-line.tsx'

export const states = ['waiting', 'failing', 'delivered', 'failed', 'withdrawn'] as const

export interface DeliveryFilter {
  readonly state: (typeof states)[number] | undefined
  readonly app_id: string | undefined
  readonly phone_number_id: string | undefined
}

/** Which webhooks are listed; the address keeps it. */
export function Filters({ state, app_id, phone_number_id }: DeliveryFilter) {
  return (
    <search class="filters">
      <select
        aria-label="State"
        data-search=""
        value={state ?? ''}
        onChange={(event) => setQuery({ state: event.currentTarget.value })}
      >
        <option value="">All states</option>
        {states.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <select aria-label="App" value={app_id ?? ''} onChange={(event) => setQuery({ app: event.currentTarget.value })}>
        <option value="">All apps</option>
        {apps.value.map(({ id, name }) => (
          <option key={id} value={id}>
            {name ?? id}
          </option>
        ))}
      </select>
      <select
        aria-label="Number"
        value={phone_number_id ?? ''}
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
  )
}

/** Webhooks, each of which can be opened and chosen. */
export function DeliveryTable({
  rows,
  chosen,
  onToggle,
}: {
  readonly rows: readonly Delivery[]
  readonly chosen: ReadonlySet<string>
  readonly onToggle: (id: string) => void
}) {
  if (rows.length === 0) {
    return (
      <Empty title="No webhook">
        <p>
          An event becomes a webhook when an app is linked to the account and subscribed to its field.{' '}
          <To href="/connect">Connect your app</To>
        </p>
      </Empty>
    )
  }
  return (
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
              Attempts
            </th>
            <th scope="col">Raised</th>
            <th scope="col">Next attempt</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} class="leads" onClick={(event) => openRow(event, row.id)}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Choose webhook ${row.id}`}
                  checked={chosen.has(row.id)}
                  onChange={() => onToggle(row.id)}
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
  )
}

function openRow(event: MouseEvent, id: string): void {
  if (!(event.target as Element).closest('a, input')) go(`/deliveries/${id}`)
}
