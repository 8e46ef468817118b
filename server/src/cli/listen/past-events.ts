import { parseDuration } from '../../base/time/duration.ts'
import type { Db } from '../../db/database.ts'
import { emptiedValue } from '../../db/emptied-value.ts'
import { CommandFailed } from '../fail.ts'

/** The start: a time, or the event of a delivery. */
export type Since = { readonly time: number } | { readonly delivery_id: number }

export interface PastEvent {
  readonly id: number
  readonly account_id: string
  readonly field: string
  readonly value: string
  readonly created_time: number
}

/** More than a person reads. */
export const maxPastEvents = 1000

const moment = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

export function readSince(text: string, now: number): Since {
  const duration = parseDuration(text)
  if (duration !== undefined) return { time: now - duration }
  if (/^\d{1,15}$/.test(text)) return { delivery_id: Number(text) }
  const time = moment.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) {
    throw new CommandFailed(
      `--since ${text} is neither a duration such as 10m, nor the id of a delivery, nor a time such as 2026-11-15T16:30:00Z`,
    )
  }
  return { time }
}

/** The newest events since the start, of the accounts that an app's business sees, oldest first. */
export async function listPastEventsForOperators({ query }: Db, app_id: string, since: Since): Promise<PastEvent[]> {
  let events = query
    .selectFrom('events')
    .select(['id', 'account_id', 'field', 'value', 'created_time'])
    .where(
      'account_id',
      'in',
      query
        .selectFrom('apps')
        .innerJoin('account_access', 'account_access.business_id', 'apps.business_id')
        .select('account_access.account_id')
        .where('apps.id', '=', app_id),
    )
    .where('value', '<>', emptiedValue)
    .orderBy('id', 'desc')
    .limit(maxPastEvents)
  if ('time' in since) events = events.where('created_time', '>=', since.time)
  else {
    const { delivery_id } = since
    const delivery = await query
      .selectFrom('deliveries')
      .select('event_id')
      .where('id', '=', delivery_id)
      .executeTakeFirst()
    if (!delivery)
      throw new CommandFailed(`--since ${delivery_id}: there is no such delivery: see ./switchboard deliveries list`)
    events = events.where('id', '>=', delivery.event_id)
  }
  return (await events.execute()).reverse()
}
