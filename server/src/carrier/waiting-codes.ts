import type { Database, Db } from '../db/database.ts'
import { carrierTimer } from './send.ts'

/** How many codes one transaction drops, and one statement names. */
const maxRows = 500

/** The codes that wait for the carrier at CARRIER_URL, by their timers, with the time at which each was asked for. */
export async function listWaitingCodesForOperators({ query }: Db): Promise<{ id: string; sent_time: number }[]> {
  const timers = await query.selectFrom('timers').select(['id', 'payload']).where('kind', '=', carrierTimer).execute()
  return timers.map(({ id, payload }) => ({ id, sent_time: Date.parse((payload as { sent_at: string }).sent_at) }))
}

/** Drops the codes that were asked for up to a time. Returns how many these were. */
export async function dropWaitingCodes(database: Database, until: number): Promise<number> {
  const old = (await listWaitingCodesForOperators(database.read)).filter(({ sent_time }) => sent_time <= until)
  const ids = old.map(({ id }) => id)
  let dropped = 0
  for (let start = 0; start < ids.length; start += maxRows) {
    const some = ids.slice(start, start + maxRows)
    const { numDeletedRows } = await database.transaction(({ query }) =>
      query.deleteFrom('timers').where('id', 'in', some).executeTakeFirstOrThrow(),
    )
    dropped += Number(numDeletedRows)
  }
  return dropped
}
