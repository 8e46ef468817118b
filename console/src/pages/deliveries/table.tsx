import { nameOf } from '../../data/directory.ts'
import { serviceNow } from '../../data/live.ts'
import type { Delivery, Lane } from '../../data/types.ts'
import { go } from '../../router.ts'
import { Due, Exact } from '../../ui/moments.tsx'
import { Badge, Empty, To } from '../../ui/parts.tsx'
import { aboutWhat } from '../live/describe.ts'
import { toneOfState } from '../live/tones.ts'
import { findNextAttempt } from './next-attempt.ts'

/** What stands there when no webhook fits. */
export function NoWebhook({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No webhook matches the filter">
        <p>
          <To href="/deliveries">Show all webhooks</To>
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="No webhook yet">
      <p>
        An event becomes a webhook when an app is linked to the account and subscribed to its field.{' '}
        <To href="/connect">Connect your app</To>
      </p>
    </Empty>
  )
}

interface TableProps {
  readonly rows: readonly Delivery[]
  readonly lanes: readonly Lane[]
  readonly chosen: ReadonlySet<string>
  readonly onChoose: (ids: readonly string[], isChosen: boolean) => void
}

/** Webhooks, each of which can be opened and chosen. */
export function DeliveryTable({ rows, lanes, chosen, onChoose }: TableProps) {
  const isAll = rows.length > 0 && rows.every(({ id }) => chosen.has(id))
  return (
    <section class="table-place" aria-label="Webhooks">
      <table>
        <thead>
          <tr>
            <th scope="col" class="pick">
              <input
                type="checkbox"
                aria-label="Choose all that are shown"
                checked={isAll}
                onChange={() =>
                  onChoose(
                    rows.map(({ id }) => id),
                    !isAll,
                  )
                }
              />
            </th>
            <th scope="col" class="id">
              Webhook
            </th>
            <th scope="col" class="state">
              State
            </th>
            <th scope="col">About</th>
            <th scope="col">Subscriber</th>
            <th scope="col" class="time">
              Created
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={row.id}
              row={row}
              lane={lanes.find(({ id }) => id === row.lane_id)}
              isChosen={chosen.has(row.id)}
              onChoose={onChoose}
            />
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface RowProps {
  readonly row: Delivery
  readonly lane: Lane | undefined
  readonly isChosen: boolean
  readonly onChoose: TableProps['onChoose']
}

function Row({ row, lane, isChosen, onChoose }: RowProps) {
  const { id, state, failing, attempts, subject, field, app_id, callback_url } = row
  const about = aboutWhat(row)
  const app = nameOf(app_id)
  const next = attempts > 0 ? findNextAttempt(row, lane, serviceNow()) : undefined
  return (
    <tr class="leads" onClick={(event) => openRow(event, id)}>
      <td class="pick">
        <input
          type="checkbox"
          aria-label={`Choose webhook ${id}`}
          checked={isChosen}
          onChange={() => onChoose([id], !isChosen)}
        />
      </td>
      <td class="id">
        <To href={`/deliveries/${id}`}>{id}</To>
      </td>
      <td class="state">
        <Badge tone={failing ? 'bad' : toneOfState(state)}>{failing ? 'failing' : state}</Badge>
        {attempts > 1 && <small class="soft">{`${attempts} attempts`}</small>}
        {attempts === 1 && state !== 'delivered' && <small class="soft">1 attempt</small>}
      </td>
      <td class="about">
        <span class="cut" title={about}>
          {about}
        </span>
        {subject !== null && <small class="soft cut">{field}</small>}
      </td>
      <td class="subscriber">
        <span class="cut" dir="auto" title={app}>
          {app}
        </span>
        <small class="soft mono cut" title={callback_url}>
          {callback_url}
        </small>
      </td>
      <td class="time">
        <Exact at={row.created_time} />
        {next !== undefined && (
          <small class="soft">
            {'Next attempt '}
            <Due at={next} />
          </small>
        )}
      </td>
    </tr>
  )
}

function openRow(event: MouseEvent, id: string): void {
  const isText = getSelection()?.type === 'Range'
  if (!isText && !(event.target as Element).closest('a, input')) go(`/deliveries/${id}`)
}
