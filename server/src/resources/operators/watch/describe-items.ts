import { YieldingTask } from '../../../base/work/yielding-task.ts'
import type { Db } from '../../../db/database.ts'
import type { FeedItem } from '../../../stream/feed-item.ts'
import { addSubjects } from '../../../stream/item-subjects.ts'
import { type Finding, findFindings } from '../../calls/public.ts'

/** Adds to items what is read for all of them at once: what events are about, and what is wrong with the sound of calls. */
export async function describeItems<Item extends Described>(db: Db, items: readonly Item[]): Promise<Item[]> {
  return addFindings(db, await addSubjects(db, items))
}

type Described = Pick<FeedItem, 'data' | 'phone_number_id'> & { readonly type: string }

/** The findings of calls as they stand; null for a call that is not kept any more. */
async function addFindings<Item extends Described>(db: Db, items: readonly Item[]): Promise<Item[]> {
  const eventOf = ({ data }: Described) => Number(data['event_id'])
  const callOf = await findCalls(db, items.filter(isCall).map(eventOf))
  const calls = await readFindings(db, [...new Set(callOf.values())])
  return items.map((item) => {
    if (!isCall(item)) return item
    const call = calls.get(callOf.get(eventOf(item)) ?? '')
    // An event that was handed in may name any call: that of another number is not the one that it is about.
    const findings = call?.phone_number_id === item.phone_number_id ? call.findings : null
    return { ...item, data: { ...item.data, findings } }
  })
}

function isCall({ type }: Described): boolean {
  return type === 'call'
}

/** The call of each event. */
async function findCalls({ query }: Db, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await query.selectFrom('events').select(['id', 'subject_id']).where('id', 'in', ids).execute()
  return new Map(rows.flatMap(({ id, subject_id }) => (subject_id === null ? [] : [[id, subject_id]])))
}

/** How many calls a statement reads: the longest descriptions of both sides are 128 KiB. */
const callsAtOnce = 20

interface FoundCall {
  readonly phone_number_id: string
  readonly findings: readonly Finding[]
}

async function readFindings({ query }: Db, ids: readonly string[]): Promise<Map<string, FoundCall>> {
  const found = new Map<string, FoundCall>()
  const task = new YieldingTask()
  for (let start = 0; start < ids.length; start += callsAtOnce) {
    const rows = await query
      .selectFrom('calls')
      .select(['id', 'phone_number_id', 'direction', 'user_session', 'business_session', 'end_reason'])
      .where('id', 'in', ids.slice(start, start + callsAtOnce))
      .execute()
    for (const { id, phone_number_id, ...call } of rows) {
      await task.yieldIfDue()
      found.set(id, { phone_number_id, findings: findFindings(call) })
    }
  }
  return found
}
