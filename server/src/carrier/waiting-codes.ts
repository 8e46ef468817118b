import type { Database, Db } from '../db/database.ts'
import { carrierTimer } from './send.ts'

/** The codes that wait for the carrier at CARRIER_URL, by their timers, with the time at which each was asked for. */
export async function listWaitingCodesForOperators({ query }: Db): Promise<{ id: string; sent_time: number }[]> {
  const timers = await query.selectFrom('timers').select(['id', 'payload']).where('kind', '=', carrierTimer).execute()
  return timers.map(({ id, payload }) => ({ id, sent_time: Date.parse((payload as { sent_at: string }).sent_at) }))
}

/** Drops the codes that were asked for up to a time. Returns how many these were. */
export async function dropWaitingCodes(database: Database, until: number): Promise<number> {
  return database.transaction(async (tx) => {
    const old = (await listWaitingCodesForOperators(tx)).filter(({ sent_time }) => sent_time <= until)
    const ids = old.map(({ id }) => id)
    if (ids.length > 0) await tx.query.deleteFrom('timers').where('id', 'in', ids).execute()
    return ids.length
  })
}
