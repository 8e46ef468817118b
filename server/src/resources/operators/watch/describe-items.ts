import type { Db } from '../../../db/database.ts'
import type { FeedItem } from '../../../stream/feed-item.ts'
import { addSubjects } from '../../../stream/item-subjects.ts'
import { findFindings } from '../../calls/public.ts'

/** Adds to items what is read for all of them at once: what events are about, and what is wrong with the sound of calls. */
export async function describeItems<Item extends Described>(db: Db, items: readonly Item[]): Promise<Item[]> {
  return addFindings(db, await addSubjects(db, items))
}

type Described = Pick<FeedItem, 'data'> & { readonly type: string }

/** The findings of a call as it stands; null when the call is not kept any more. */
async function addFindings<Item extends Described>(db: Db, items: readonly Item[]): Promise<Item[]> {
  const isCall = ({ type }: Item) => type === 'call'
  const ids = items.filter(isCall).map(({ data }) => Number(data['event_id']))
  if (ids.length === 0) return [...items]
  const rows = await db.query
    .selectFrom('events')
    .innerJoin('calls', 'calls.id', 'events.subject_id')
    .select(['events.id', 'calls.direction', 'calls.user_session', 'calls.business_session', 'calls.end_reason'])
    .where('events.id', 'in', ids)
    .execute()
  const findings = new Map(rows.map(({ id, ...call }) => [String(id), findFindings(call)]))
  return items.map((item) => {
    if (!isCall(item)) return item
    return { ...item, data: { ...item.data, findings: findings.get(String(item.data['event_id'])) ?? null } }
  })
}
