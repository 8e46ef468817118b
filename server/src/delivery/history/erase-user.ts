import type { Clock } from '../../base/time/clock.ts'
import type { Database, Transaction } from '../../db/database.ts'
import { emptiedValue } from '../../db/emptied-value.ts'
import { withdrawDeliveries } from '../store/withdraw.ts'
import { forgetResponses } from './forget-responses.ts'

/** So many events are read at once, and so many of these changed in one transaction. */
const stepSize = 2000
const changedAtOnce = 100

/** Erases what events say of a user, in the whole webhook log; returns how many there were. What waits of it is not sent any more. */
export async function eraseUserFromEvents(database: Database, clock: Clock, wa_id: string): Promise<number> {
  const { query } = database.read
  const last = await query.selectFrom('events').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  let count = 0
  for (let after = 0; after < (last?.id ?? 0); after += stepSize) {
    const events = await query
      .selectFrom('events')
      .select(['id', 'value'])
      .where('id', '>', after)
      .where('id', '<=', after + stepSize)
      .where('value', 'like', `%"${wa_id}"%`)
      .execute()
    const ids = events.filter(({ value }) => eraseFrom(value, wa_id) !== undefined).map(({ id }) => id)
    for (let start = 0; start < ids.length; start += changedAtOnce) {
      const batch = ids.slice(start, start + changedAtOnce)
      await database.transaction((tx) => eraseBatch(tx, clock, batch, wa_id))
    }
    count += ids.length
  }
  return count
}

async function eraseBatch(tx: Transaction, clock: Clock, ids: readonly number[], wa_id: string): Promise<void> {
  const { query } = tx
  const events = await query.selectFrom('events').select(['id', 'value']).where('id', 'in', ids).forUpdate().execute()
  const emptied: number[] = []
  for (const { id, value: before } of events) {
    const value = eraseFrom(before, wa_id)
    if (value === undefined) continue
    if (value === emptiedValue) emptied.push(id)
    await query.updateTable('events').set({ value }).where('id', '=', id).execute()
  }
  const deliveries = await query
    .selectFrom('deliveries')
    .select(['id', 'event_id'])
    .where('event_id', 'in', ids)
    .execute()
  const ended = deliveries.filter(({ event_id }) => emptied.includes(event_id)).map(({ id }) => id)
  await withdrawDeliveries(tx, ended, clock.now())
  await forgetResponses(
    tx,
    deliveries.map(({ id }) => id),
  )
}

/** The lists of a value whose items stand by themselves. */
const listNames = ['messages', 'statuses', 'calls', 'groups', 'user_preferences']

/** A value without what it says of a user; undefined when it says nothing of the user. */
function eraseFrom(text: string, wa_id: string): string | undefined {
  if (text === emptiedValue) return undefined
  const value: Record<string, unknown> = JSON.parse(text)
  const kept: Record<string, unknown> = {}
  let isChanged = false
  for (const [name, member] of Object.entries(value)) {
    const rest = Array.isArray(member) ? member.filter((item) => !isAbout(item, wa_id)) : member
    if (Array.isArray(rest) && rest.length !== (member as unknown[]).length) isChanged = true
    kept[name] = rest
  }
  if (!isChanged) return undefined
  const hasContent = listNames.some((name) => Array.isArray(kept[name]) && kept[name].length > 0)
  return hasContent ? JSON.stringify(kept) : emptiedValue
}

/** A contact, or something that the user did or that happened to the user: not a card that merely names the number. */
function isAbout(item: unknown, wa_id: string): boolean {
  return typeof item === 'object' && item !== null && Object.values(item).includes(wa_id)
}
