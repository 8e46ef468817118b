import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { describeStoredSubject, describeSubject } from './event-subject.ts'
import type { FeedItem } from './feed-item.ts'
import { shownValueOf } from './read.ts'

/** Adds to what belongs to an event what that is about. Only values of events that are not among the items are read. */
export async function addSubjects<Item extends Pick<FeedItem, 'data'>>(
  db: Db,
  items: readonly Item[],
): Promise<Item[]> {
  const subjects = new Map<string, string | null>()
  for (const { data } of items) {
    const { event_id, field, value } = data
    if (typeof event_id === 'string' && value !== undefined)
      subjects.set(event_id, describeSubject(String(field), value))
  }
  const eventOf = ({ data }: Item) => (typeof data['event_id'] === 'string' ? data['event_id'] : undefined)
  const missing = items.map(eventOf).filter((id) => id !== undefined && !subjects.has(id))
  for (const { id, subject } of await readSubjects(db, [...new Set(missing)].map(Number))) subjects.set(id, subject)
  return items.map((item) => {
    const event_id = eventOf(item)
    if (event_id === undefined) return item
    return { ...item, data: { ...item.data, subject: subjects.get(event_id) ?? null } }
  })
}

async function readSubjects(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  const rows = await db.query
    .selectFrom('events')
    .select(['id', 'field', shownValueOf(sql.ref('events.value')).as('value')])
    .where('id', 'in', ids)
    .execute()
  return rows.map(({ id, field, value }) => ({ id: String(id), subject: describeStoredSubject(field, value) }))
}
