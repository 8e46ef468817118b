import { APIError, operatorDeliveriesList, operatorDeliveriesReplay } from '@switchboard/client/methods'
import { client, explain } from '../../data/http.ts'
import type { Lane } from '../../data/types.ts'
import { batchByAccount, type Waiting } from './move-batches.ts'

interface Moved {
  readonly count: number
  /** Why some of them stay where they are. */
  readonly problem: string | undefined
}

/**
 * Sends what waits at a former address to the callback that its app has now. By ids: a filter cannot tell addresses apart, and would
 * begin anew with what waits at the present one, and send a part of it twice.
 */
export async function moveWaiting(lane: Pick<Lane, 'id' | 'app_id'>): Promise<Moved> {
  let count = 0
  let problem: string | undefined
  for (const ids of batchByAccount(await listWaiting(lane))) {
    try {
      count += (await operatorDeliveriesReplay(client, { ids })).replayed
    } catch (error) {
      if (!(error instanceof APIError)) throw error
      problem ??= explain(error)
    }
  }
  return { count, problem }
}

async function listWaiting({ id, app_id }: Pick<Lane, 'id' | 'app_id'>): Promise<Waiting[]> {
  const found: Waiting[] = []
  let after: string | undefined
  do {
    const { data, paging } = await operatorDeliveriesList(client, {
      ...{ app_id, state: 'waiting', limit: 1000 },
      ...(after !== undefined && { after }),
    })
    found.push(...data.filter(({ lane_id }) => lane_id === id))
    after = paging?.next === undefined ? undefined : paging.cursors?.after
  } while (after !== undefined)
  return found
}
