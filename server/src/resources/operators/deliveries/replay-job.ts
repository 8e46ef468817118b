import { sql } from 'kysely'
import type { Random } from '../../../base/keys/random.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { minute, second } from '../../../base/time/duration.ts'
import type { Db, Transaction } from '../../../db/database.ts'
import { replayDeliveries } from '../../../delivery/history/replay-deliveries.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import { setTimer } from '../../../timers/set.ts'
import type { TimerHandler } from '../../../timers/worker.ts'
import { isSeen } from '../limits.ts'
import { type DeliveryFilter, findAccountOfNumber, type Walked, walkDeliveriesForOperators } from './delivery-store.ts'
import { changeReplay, lockReplay, type Replay } from './replay-store.ts'

export const replayTimer = 'deliveries.replay'

/** How much one transaction replays: little enough that nothing else has to wait for it. */
const batchSize = 100
/** A batch that fails so often is not tried again. */
const maxFailures = 20
const maxErrorCharacters = 500

export interface JobTools {
  readonly clock: Clock
  readonly random: Random
}

export interface NewReplay {
  readonly filter: DeliveryFilter
  readonly to: string | undefined
  /** Undefined: a command on the store, which has no limits. */
  readonly token_id: string | undefined
  readonly limits: OperatorLimits | undefined
  /** The first delivery that may fit, and the newest: those that are raised meanwhile are not replayed. */
  readonly first: number
  readonly last: number
  /** How many of those up to a delivery fit. */
  readonly found: { readonly count: number; readonly upTo: number }
}

/** Stores a replay and sets the timer that works on it. */
export async function beginReplay(tx: Transaction, tools: JobTools, replay: NewReplay): Promise<Replay> {
  const { filter, to, token_id, first, last, found } = replay
  const now = tools.clock.now()
  const row: Replay = {
    id: tools.random.trace(),
    state: 'running',
    filter,
    sent_to: to ?? null,
    token_id: token_id ?? null,
    ...(await findOwner(tx, replay)),
    first_id: first,
    last_id: last,
    reached_id: first - 1,
    replayed: 0,
    left_out: 0,
    total: estimateTotal({ first_id: first, last_id: last, reached_id: found.upTo }, found.count),
    error: null,
    trace: tx.cause.trace ?? null,
    created_time: now,
    changed_time: now,
    finished_time: null,
  }
  await tx.query.insertInto('replays').values(row).execute()
  await setStep(tx, tools, row.id)
  return row
}

function setStep(tx: Transaction, tools: JobTools, id: string): Promise<string> {
  return setTimer(tx, tools, { kind: replayTimer, due_time: tools.clock.now(), payload: { id } })
}

/** Whose all of the deliveries are, if they are of one business or account alone that the operator sees. */
async function findOwner(db: Db, { filter, limits }: NewReplay): Promise<Pick<Replay, 'business_id' | 'account_id'>> {
  const [account, ...otherAccounts] = limits?.accounts ?? []
  const [business, ...otherBusinesses] = limits?.businesses ?? []
  const onlyAccount = business === undefined && otherAccounts.length === 0 ? account : undefined
  const onlyBusiness = account === undefined && otherBusinesses.length === 0 ? business : undefined
  const { account_id = onlyAccount ?? (await findAccountOfNumber(db, filter.phone_number_id ?? '')) } = filter
  const found = await db.query
    .selectFrom('accounts')
    .select(['id', 'business_id'])
    .where('id', '=', account_id ?? '')
    .where(
      isSeen(limits, { account: sql.ref<string>('accounts.id'), business: sql.ref<string>('accounts.business_id') }),
    )
    .executeTakeFirst()
  if (found) return { business_id: found.business_id, account_id: found.id }
  return { business_id: onlyBusiness ?? null, account_id: null }
}

/**
 * One batch: its deliveries are sent again and its progress is stored in the same transaction, so that each is sent again once, however
 * often processes die. Returns whether there is more to do.
 */
export async function takeReplayStep(tx: Transaction, clock: Clock, id: string): Promise<boolean> {
  const job = await lockReplay(tx, id)
  if (job?.state !== 'running') return false
  const now = clock.now()
  const limits = await findLimits(tx, job.token_id)
  if (limits === 'revoked') {
    const error = 'the token that began it was revoked'
    await changeReplay(tx, id, { state: 'stopped', error, changed_time: now, finished_time: now })
    return false
  }
  const { ids, reached } = await takeBatch(tx, limits, job)
  const { replayed, lanes } = await replayDeliveries(tx, clock, ids, job.sent_to ?? undefined)
  tx.makeDue({ lanes })
  const counts = { replayed: job.replayed + replayed.length, left_out: job.left_out + ids.length - replayed.length }
  const reached_id = reached ?? job.last_id
  const total = estimateTotal({ ...job, reached_id }, counts.replayed + counts.left_out)
  const end = reached === undefined ? ({ state: 'done', finished_time: now } as const) : {}
  await changeReplay(tx, id, { ...counts, reached_id, total, error: null, changed_time: now, ...end })
  return reached !== undefined
}

function takeBatch(tx: Transaction, limits: OperatorLimits | undefined, job: Replay): Promise<Walked> {
  const range = { after: job.reached_id, last: job.last_id, limit: batchSize }
  return walkDeliveriesForOperators(tx, limits, job.filter as DeliveryFilter, range)
}

/** What the operator sees by now. A session or token that merely expired goes on: it was good when the replay began. */
async function findLimits(tx: Transaction, token_id: string | null): Promise<OperatorLimits | undefined | 'revoked'> {
  if (token_id === null) return undefined
  const token = await tx.query
    .selectFrom('tokens')
    .select(['revoked_time', 'accounts', 'businesses'])
    .where('id', '=', token_id)
    .executeTakeFirst()
  if (!token || token.revoked_time !== null) return 'revoked'
  const { accounts, businesses } = token
  if (!accounts && !businesses) return undefined
  return {
    accounts: accounts ? new Set(accounts) : undefined,
    businesses: businesses ? new Set(businesses) : undefined,
  }
}

/** As if what fits were spread evenly over the ids; exact at the end. */
function estimateTotal(
  { first_id, last_id, reached_id }: Pick<Replay, 'first_id' | 'last_id' | 'reached_id'>,
  count: number,
): number {
  const passed = reached_id - first_id + 1
  return passed <= 0 ? count : Math.round((count * (last_id - first_id + 1)) / passed)
}

export function makeReplayHandler(tools: JobTools): TimerHandler {
  const idOf = (payload: object) => (payload as { readonly id: string }).id
  return {
    async finish(tx, payload) {
      const id = idOf(payload)
      if (await takeReplayStep(tx, tools.clock, id)) await setStep(tx, tools, id)
    },
    async noteFailure(tx, payload, { message }, isLast) {
      const job = await lockReplay(tx, idOf(payload))
      if (job?.state !== 'running') return
      const now = tools.clock.now()
      const end = isLast ? ({ state: 'failed', finished_time: now } as const) : {}
      await changeReplay(tx, job.id, { error: message.slice(0, maxErrorCharacters), changed_time: now, ...end })
    },
    retryDelay: (failures) => (failures < maxFailures ? Math.min(failures * second, minute) : undefined),
  }
}
