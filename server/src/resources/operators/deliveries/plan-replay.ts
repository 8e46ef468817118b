import { rest } from '../../../base/walk.ts'
import type { Db } from '../../../db/database.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import { type DeliveryFilter, findLastDeliveryForOperators, walkDeliveriesForOperators } from './delivery-store.ts'
import type { NewReplay } from './replay-job.ts'

/** So often a request looks for what fits; a replay that would take more is a job. */
const maxLooks = 10

/** Few enough to be replayed at once, or what a job begins with. */
export type ReplayPlan =
  | { readonly ids: readonly number[] }
  | { readonly job: Pick<NewReplay, 'first' | 'last' | 'found'> }

/** Finds what fits a filter, up to a number of them. */
export async function planReplay(
  db: Db,
  limits: OperatorLimits | undefined,
  filter: DeliveryFilter,
  { atOnce, isJob }: { readonly atOnce: number; readonly isJob: boolean },
): Promise<ReplayPlan> {
  const last = await findLastDeliveryForOperators(db)
  const ids: number[] = []
  let after = 0
  for (let looks = 0; looks < maxLooks && ids.length <= atOnce; looks++) {
    const started = performance.now()
    const walked = await walkDeliveriesForOperators(db, limits, filter, { after, last, limit: atOnce + 1 - ids.length })
    ids.push(...walked.ids)
    if (walked.reached === undefined) {
      after = last
      if (ids.length <= atOnce && !isJob) return { ids }
      break
    }
    after = walked.reached
    await rest(started)
  }
  return { job: { first: ids[0] ?? after + 1, last, found: { count: ids.length, upTo: after } } }
}
