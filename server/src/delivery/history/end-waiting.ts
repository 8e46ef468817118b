import { sql } from 'kysely'
import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { minute, second } from '../../base/time/duration.ts'
import type { Transaction } from '../../db/database.ts'
import { setTimer } from '../../timers/set.ts'
import type { TimerHandler } from '../../timers/worker.ts'
import { isAboutConnection } from '../rules/about-connection.ts'
import { withdrawDeliveries } from '../store/withdraw.ts'

export const endWaitingTimer = 'deliveries.end_waiting'

/** The most deliveries that one transaction reads, however long the backlog of the app is. */
const maxRows = 500
const maxLanes = 100

export interface EndTools {
  readonly clock: Clock
  readonly random: Random
}

/** Which deliveries are to end, and how far the work has come. */
interface Progress {
  readonly account_id: string
  readonly app_id: string
  /** The newest delivery to end: later ones were raised after access was granted again. */
  readonly last_id: number
  /** Lanes are processed in the order of their ids, and deliveries in order within each. */
  readonly lane_id: string
  readonly after_id: number
}

/**
 * Ends the waiting deliveries about an account to an app that may no longer receive them. This transaction ends a limited number
 * and a timer ends the rest, so that a long backlog delays nobody.
 */
export async function endWaiting(
  tx: Transaction,
  tools: EndTools,
  { account_id, app_id }: Pick<Progress, 'account_id' | 'app_id'>,
): Promise<void> {
  const newest = await tx.query.selectFrom('deliveries').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  if (!newest) return
  await takeStep(tx, tools, { account_id, app_id, last_id: newest.id, lane_id: '', after_id: 0 })
}

export function makeEndWaitingHandler(tools: EndTools): TimerHandler {
  return {
    finish: (tx, payload) => takeStep(tx, tools, payload as Progress),
    retryDelay: (failures) => Math.min(failures * second, minute),
  }
}

async function takeStep(tx: Transaction, tools: EndTools, progress: Progress): Promise<void> {
  const { query } = tx
  const { account_id, app_id, last_id } = progress
  const lanes = await query
    .selectFrom('lanes')
    .select('id')
    .where('app_id', '=', app_id)
    .where('id', '>=', progress.lane_id)
    .orderBy('id')
    .limit(maxLanes)
    .execute()
  let room = maxRows
  for (const [index, { id: lane_id }] of lanes.entries()) {
    const after_id = lane_id === progress.lane_id ? progress.after_id : 0
    const waiting = await query
      .selectFrom('deliveries')
      .select(['id', 'account_id'])
      .where('lane_id', '=', lane_id)
      .where('state', '=', sql.lit('waiting'))
      .where('id', '>', after_id)
      .where('id', '<=', last_id)
      .where(sql<boolean>`NOT ${isAboutConnection(sql.ref('conversation'))}`)
      .orderBy('id')
      .limit(room)
      .execute()
    const ids = waiting.filter((delivery) => delivery.account_id === account_id).map(({ id }) => id)
    await withdrawDeliveries(tx, ids, tools.clock.now())
    room -= waiting.length
    const reached = room === 0 ? waiting.at(-1)?.id : undefined
    const isLastLane = index === maxLanes - 1
    if (reached === undefined && !isLastLane) continue
    const payload: Progress = { ...progress, lane_id, after_id: reached ?? last_id }
    await setTimer(tx, tools, { kind: endWaitingTimer, due_time: tools.clock.now(), payload })
    return
  }
}
