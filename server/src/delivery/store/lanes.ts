import { type RawBuilder, sql } from 'kysely'
import type { Clock } from '../../base/time/clock.ts'
import type { Database, Db, Transaction } from '../../db/database.ts'
import { lockFreeRowsOf } from '../../db/row-locks.ts'
import { defineSql, defineWithSteps } from '../../db/statement.ts'
import type { LaneAddress } from './lane-rows.ts'

/** A lane at the time of its claim. */
export interface Lane extends LaneAddress {
  readonly failures: number
}

/** Who holds a lane, and until when if the holder dies. */
export interface Lease {
  readonly owner: string
  readonly milliseconds: number
  /** The clock of leases, which no sandbox moves. */
  readonly clock: Clock
}

interface ClaimTime {
  /** By the clock of the service: what is due. */
  readonly now: number
  /** By the clock of leases: what is held, and beyond which time no lease can end. */
  readonly held: number
  readonly beyond: number
}

function claimTimeOf({ milliseconds, clock }: Lease, now: number): ClaimTime {
  const held = clock.now()
  return { now, held, beyond: held + 2 * milliseconds }
}

/**
 * Whether a lane has work and no living holder. A lease that ends further ahead than any lease can was written before the clock was
 * set back; the bound is twice the length of a lease, because the clocks of machines differ.
 */
function isClaimable({ now, held, beyond }: ClaimTime): RawBuilder<boolean> {
  return sql`lanes.next_due <= ${now} AND lanes.stopped_until <= ${now} AND (lanes.leased_until <= ${held} OR lanes.leased_until > ${beyond})`
}

interface LanePosition {
  readonly next_due: number
  readonly id: string
}

/** Where a list of due lanes begins. */
export const firstPosition: LanePosition = { next_due: Number.MIN_SAFE_INTEGER, id: '' }

const findDueLanes = defineSql<ClaimTime & { after_due: number; after_id: string; limit: number }>()(
  ({ now, held, beyond, after_due, after_id, limit }) => sql<Lane & { next_due: number }>`
    SELECT id, app_id, callback_url, failures, next_due FROM lanes
    WHERE ${isClaimable({ now, held, beyond })} AND (next_due, id) > (${after_due}, ${after_id})
    ORDER BY next_due, id LIMIT ${limit}`,
)

/** Lanes to claim, the longest waiting first. A read, so that a poll that finds none costs no transaction. */
export async function listDueLanes(
  db: Db,
  lease: Lease,
  now: number,
  { after = firstPosition, limit }: { after?: LanePosition; limit: number },
) {
  return db.list(findDueLanes, { ...claimTimeOf(lease, now), after_due: after.next_due, after_id: after.id, limit })
}

const findAddresses = defineSql<{ ids: object }>()(
  ({ ids }) => sql<LaneAddress>`
    SELECT lanes.id, lanes.app_id, lanes.callback_url FROM json_each(${ids}) AS o JOIN lanes ON lanes.id = o.key`,
)

/** The destinations of lanes of which only the ids are known. */
export async function listAddresses(db: Db, ids: Iterable<string>): Promise<LaneAddress[]> {
  return db.list(findAddresses, { ids: keysOf(ids) })
}

type ClaimParameters = ClaimTime & { ids: object; owner: string; until: number }

/** Raising an event holds the lane's row in share mode, which must not block a claim. */
const claim = defineSql<ClaimParameters>()(
  ({ ids, owner, until, now, held, beyond }) => sql<Lane>`
    UPDATE lanes SET leased_until = ${until}, lease_owner = ${owner}
    WHERE id IN (
      SELECT lanes.id FROM json_each(${ids}) AS o JOIN lanes ON lanes.id = o.key
      WHERE ${isClaimable({ now, held, beyond })} ${lockFreeRowsOf('lanes', 'ForNoKeyUpdate')}
    )
    RETURNING id, app_id, callback_url, failures`,
)

/** Claims lanes; returns those that nobody else claimed meanwhile and that still have work. */
export async function claimLanes(
  database: Pick<Database, 'execute'>,
  ids: Iterable<string>,
  lease: Lease,
  now: number,
): Promise<Lane[]> {
  const claimTime = claimTimeOf(lease, now)
  return database.execute(claim, {
    ...claimTime,
    ids: keysOf(ids),
    owner: lease.owner,
    until: claimTime.held + lease.milliseconds,
  })
}

type RenewalParameters = { ids: object; owner: string; until: number }

interface RenewedRow {
  readonly id: string
  /** 1: somebody else has locked its row. */
  readonly is_locked: number
}

const renewFree = defineSql<RenewalParameters>()(
  ({ ids, owner, until }) => sql<RenewedRow>`
    WITH free AS (
      SELECT lanes.id FROM json_each(${ids}) AS o JOIN lanes ON lanes.id = o.key
      WHERE lanes.lease_owner = ${owner} ${lockFreeRowsOf('lanes', 'ForNoKeyUpdate')}
    ), renewed AS (
      UPDATE lanes SET leased_until = ${until} FROM free WHERE lanes.id = free.id RETURNING lanes.id
    )
    SELECT id, 0 AS is_locked FROM renewed
    UNION ALL SELECT lanes.id, 1 FROM json_each(${ids}) AS o JOIN lanes ON lanes.id = o.key
      WHERE lanes.lease_owner = ${owner} AND lanes.id NOT IN (SELECT id FROM renewed)`,
)

const renewEach = defineSql<RenewalParameters>()(
  ({ ids, owner, until }) => sql<RenewedRow>`
    UPDATE lanes SET leased_until = ${until}
    WHERE id IN (SELECT key FROM json_each(${ids})) AND lease_owner = ${owner} RETURNING id, 0 AS is_locked`,
)

const renewal = defineWithSteps(renewFree, (db, parameters) => db.list(renewEach, parameters))

/** Lanes that are still ours, by whether their leases could be renewed. */
export interface Renewed {
  readonly renewed: ReadonlySet<string>
  /** Somebody else has locked their rows. */
  readonly locked: ReadonlySet<string>
}

/** Renews the leases on lanes. It waits for no lock, because it is for all lanes of the process. */
export async function renewLanes(
  database: Pick<Database, 'execute'>,
  ids: Iterable<string>,
  { owner, milliseconds, clock }: Lease,
): Promise<Renewed> {
  const rows = await database.execute(renewal, { ids: keysOf(ids), owner, until: clock.now() + milliseconds })
  const listIds = (wanted: number) => rows.filter(({ is_locked }) => is_locked === wanted).map(({ id }) => id)
  return { renewed: new Set(listIds(0)), locked: new Set(listIds(1)) }
}

const lockHeld = defineSql<{ ids: object; owner: string }>()(
  ({ ids, owner }) => sql<{ id: string }>`
    SELECT lanes.id FROM json_each(${ids}) AS o JOIN lanes ON lanes.id = o.key
    WHERE lanes.lease_owner = ${owner} ${lockFreeRowsOf('lanes', 'ForUpdate')}`,
)

const release = defineSql<{ ids: object; owner: string }>()(
  ({ ids, owner }) => sql<{ id: string; next_due: number | null }>`
    UPDATE lanes SET leased_until = 0, lease_owner = NULL, next_due = (
      SELECT CASE WHEN d.due_time < lanes.paused_until THEN lanes.paused_until ELSE d.due_time END
      FROM deliveries d WHERE d.lane_id = lanes.id AND d.state = 'waiting' ORDER BY d.due_time LIMIT 1
    )
    WHERE id IN (SELECT key FROM json_each(${ids})) AND lease_owner = ${owner}
    RETURNING id, next_due`,
)

/**
 * Releases lanes, each with the time of its next work. On PostgreSQL a lane for which an event is being raised is skipped: that
 * event is not visible yet, and its transaction relies on the lane's current due time.
 */
export async function releaseLanes(
  tx: Transaction,
  ids: Iterable<string>,
  { owner }: Lease,
): Promise<{ id: string; next_due: number | null }[]> {
  const locked = await tx.list(lockHeld, { ids: keysOf(ids), owner })
  if (locked.length === 0) return []
  // A separate statement, which sees everything committed before the rows were locked.
  return tx.list(release, { ids: keysOf(locked.map(({ id }) => id)), owner })
}

/** A list in a form that both databases read: the keys of an object. */
export function keysOf(ids: Iterable<string | number>): object {
  const keys: Record<string, 1> = {}
  for (const id of ids) keys[id] = 1
  return keys
}
