import { operatorDeliveriesList, operatorDeliveriesRetrieve } from '@switchboard/client/methods'
import { client } from '../../data/http.ts'
import type { Lane } from '../../data/types.ts'

export interface FirstFailing {
  readonly id: string
  /** When its first attempt failed. */
  readonly since: string
  /** What the last attempt met. */
  readonly problem: string
}

/** The webhook that a subscriber has refused for longest: since when, and why. Where none waits, the last one that failed for good. */
export async function findFirstFailing(lane: Lane, now: number): Promise<FirstFailing | undefined> {
  const found = await findDelivery(lane, now)
  if (!found) return undefined
  const { tries } = await operatorDeliveriesRetrieve(client, found.id)
  const first = tries.find(({ problem }) => problem !== null)
  const last = tries.at(-1)
  return first && last?.problem ? { id: found.id, since: first.time, problem: last.problem } : undefined
}

async function findDelivery({ app_id, id, waiting, oldest_age }: Lane, now: number) {
  const list = async (state: 'failing' | 'failed', until?: string) => {
    const { data } = await operatorDeliveriesList(client, { app_id, state, limit: 100, ...(until && { until }) })
    return data.filter(({ lane_id }) => lane_id === id)
  }
  if (waiting === 0) return (await list('failed'))[0]
  // The list begins with the newest; the oldest are found by their age, which is in whole seconds.
  const oldest = await list('failing', new Date(now - (oldest_age ?? 0) * 1000 + 2000).toISOString())
  return oldest.at(-1) ?? (await list('failing')).at(-1)
}
