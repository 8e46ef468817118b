import type { DueLane, RaisedDeliveries, RaisedDelivery } from '../../db/database.ts'
import type { EventRow, RaisedFor } from './new-event.ts'
import type { Target } from './subscribers.ts'

/** The lanes that events were raised for, each with its deliveries where the database returned all of them. */
export function listRaisedLanes(
  raised: readonly RaisedFor[],
  rows: readonly EventRow[],
  now: number,
  since: number,
): DueLane[] {
  const targets = raised.filter((one): one is RaisedFor & Target => one.app_id !== null)
  if (targets[0]?.delivery_id === undefined) return targets.map(dueLaneOf)
  const byLane = Map.groupBy(targets, ({ app_id, callback_url }) => `${app_id} ${callback_url}`)
  return [...byLane.values()].map((ofLane) => ({
    ...dueLaneOf(ofLane[0] as RaisedFor & Target),
    raised: describeDeliveries(ofLane, rows, now, since),
  }))
}

function dueLaneOf({ lane_id: id, app_id, callback_url, holder, is_noted }: RaisedFor & Target): DueLane {
  return { id, app_id, callback_url, holder, ...(is_noted && { isNoted: true }) }
}

function describeDeliveries(
  targets: readonly (RaisedFor & Target)[],
  rows: readonly EventRow[],
  created_time: number,
  since: number,
): RaisedDeliveries | undefined {
  const deliveries: RaisedDelivery[] = []
  // The statement that stored them did not see them.
  const last = new Map<string, number>()
  for (const { n, event_id, delivery_id, previous_id } of targets) {
    if (delivery_id == null) return undefined
    const { account_id, field, conversation, value, trace, span } = rows[n] as EventRow
    const before = last.get(conversation) ?? previous_id ?? null
    deliveries.push({
      id: delivery_id,
      event_id,
      account_id,
      field,
      conversation,
      created_time,
      previous_id: before,
      value,
      trace,
      span,
    })
    last.set(conversation, delivery_id)
  }
  return { deliveries, since, secret: targets[0]?.secret ?? undefined }
}
