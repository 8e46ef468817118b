import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import type { Clock } from '../../../base/time/clock.ts'
import type { Db, Transaction } from '../../../db/database.ts'
import type { ReplaysTable } from '../../../db/tables.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import type { PageRange } from '../../../graph/lists/paging.ts'
import { isSeen } from '../limits.ts'

export type Replay = Selectable<ReplaysTable>

export const replayStates = ['running', 'done', 'stopped', 'failed'] as const

/** Whose replays are asked for: limits of a token, which also sees what was begun with it. */
export interface Viewer {
  readonly limits: OperatorLimits | undefined
  readonly token_id: string
}

export async function listReplaysForOperators(
  db: Db,
  viewer: Viewer,
  state: Replay['state'] | undefined,
  range: PageRange,
): Promise<Replay[]> {
  let query = db.query.selectFrom('replays').selectAll().where(isReplaySeen(viewer))
  if (state !== undefined) query = query.where('state', '=', state)
  return range.apply(query).execute()
}

/** Undefined when this operator sees none of that id. */
export async function findReplayForOperators(db: Db, viewer: Viewer, id: string): Promise<Replay | undefined> {
  return db.query.selectFrom('replays').selectAll().where('id', '=', id).where(isReplaySeen(viewer)).executeTakeFirst()
}

export async function lockReplay(tx: Transaction, id: string): Promise<Replay | undefined> {
  return tx.query.selectFrom('replays').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function changeReplay(tx: Transaction, id: string, change: Partial<Replay>): Promise<void> {
  await tx.query.updateTable('replays').set(change).where('id', '=', id).execute()
}

/** Stops a replay that runs; one that has ended stays as it is. A batch that is under way ends first. Undefined: there is none. */
export async function stopReplay(tx: Transaction, clock: Clock, id: string): Promise<Replay | undefined> {
  const job = await lockReplay(tx, id)
  if (job?.state !== 'running') return job
  const now = clock.now()
  const end = { state: 'stopped', changed_time: now, finished_time: now } as const
  await changeReplay(tx, id, end)
  return { ...job, ...end }
}

function isReplaySeen({ limits, token_id }: Viewer) {
  const owner = { account: sql.ref<string>('replays.account_id'), business: sql.ref<string>('replays.business_id') }
  return sql<boolean>`(${isSeen(limits, owner)} OR replays.token_id = ${token_id})`
}
