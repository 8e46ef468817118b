import { type RawBuilder, sql } from 'kysely'
import type { Database, Db, Transaction } from '../db/database.ts'
import { lockFreeRowsOf } from '../db/row-locks.ts'
import { defineSql } from '../db/statement.ts'
import type { LaneAddress } from './lane-rows.ts'

/** A lane as it is when it is claimed. */
export interface Lane extends LaneAddress {
  readonly failures: number
}

/** Who holds a lane, and for how long when nothing more is heard of them. */
export interface Lease {
  readonly owner: string
  readonly milliseconds: number
}

interface ClaimMoment {
  readonly now: number
  readonly beyond: number
}

function momentOf({ milliseconds }: Lease, now: number): ClaimMoment {
  return { now, beyond: now + 2 * milliseconds }
}

/**
 * Whether there is something to do for a lane that nobody works on, or whoever did is dead. A lease that ends further ahead than
 * one can was given by a clock that has been set back since; twice its length, because the clocks of machines differ.
 */
function isClaimable({ now, beyond }: ClaimMoment): RawBuilder<boolean> {
  return sql`lanes.next_due <= ${now} AND (lanes.leased_until <= ${now} OR lanes.leased_until > ${beyond})`
}

interface Place {
  readonly next_due: number
  readonly id: string
}

/** Where a list of due lanes begins. */
export const firstPlace: Place = { next_due: Number.MIN_SAFE_INTEGER, id: '' }

const findDueLanes = defineSql<ClaimMoment & { after_due: number; after_id: string; limit: number }>()(
  ({ now, beyond, after_due, after_id, limit }) => sql<Lane & { next_due: number }>`
    SELECT id, app_id, callback_url, failures, next_due FROM lanes
    WHERE ${isClaimable({ now, beyond })} AND (next_due, id) > (${after_due}, ${after_id})
    ORDER BY next_due, id LIMIT ${limit}`,
)

/** Lanes to claim, those first that have waited longest. A read, so that asking costs no transaction where there is none. */
export async function listDueLanes(
  db: Db,
  lease: Lease,
  now: number,
  { after = firstPlace, limit }: { after?: Place; limit: number },
) {
  return db.list(findDueLanes, { ...momentOf(lease, now), after_due: after.next_due, after_id: after.id, limit })
}

const findAddresses = defineSql<{ ids: object }>()(
  ({ ids }) => sql<LaneAddress>`
    SELECT lanes.id, lanes.app_id, lanes.callback_url FROM json_each(${ids}) AS o JOIN lanes ON lanes.id = o.key`,
)

/** Where lanes lead that only their ids are known of. */
export async function listAddresses(db: Db, ids: Iterable<string>): Promise<LaneAddress[]> {
  return db.list(findAddresses, { ids: keysOf(ids) })
}

type ClaimParameters = ClaimMoment & { ids: object; owner: string; until: number }

/** Whoever raises an event holds the lane's row in share mode: that must not keep it from being claimed. */
const claim = defineSql<ClaimParameters>()(
  ({ ids, owner, until, now, beyond }) => sql<Lane>`
    UPDATE lanes SET leased_until = ${until}, lease_owner = ${owner}
    WHERE id IN (
      SELECT lanes.id FROM json_each(${ids}) AS o JOIN lanes ON lanes.id = o.key
      WHERE ${isClaimable({ now, beyond })} ${lockFreeRowsOf('lanes', 'ForNoKeyUpdate')}
    )
    RETURNING id, app_id, callback_url, failures`,
)

/** Claims lanes; those that somebody else claimed meanwhile, or that there is nothing to do for, are not among the result. */
export async function claimLanes(
  database: Pick<Database, 'execute'>,
  ids: Iterable<string>,
  lease: Lease,
  now: number,
): Promise<Lane[]> {
  return database.execute(claim, {
    ...momentOf(lease, now),
    ids: keysOf(ids),
    owner: lease.owner,
    until: now + lease.milliseconds,
  })
}

const renewal = defineSql<{ ids: object; owner: string; until: number }>()(
  ({ ids, owner, until }) => sql<{ id: string }>`
    UPDATE lanes SET leased_until = ${until}
    WHERE id IN (SELECT key FROM json_each(${ids})) AND lease_owner = ${owner} RETURNING id`,
)

/** Makes the leases on lanes longer, and says which of them are still ours. */
export async function renewLanes(
  database: Pick<Database, 'execute'>,
  ids: Iterable<string>,
  { owner, milliseconds }: Lease,
  now: number,
): Promise<Set<string>> {
  const renewed = await database.execute(renewal, { ids: keysOf(ids), owner, until: now + milliseconds })
  return new Set(renewed.map(({ id }) => id))
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
 * Gives lanes back, each with the time when there is something to do for it next. On PostgreSQL a lane that somebody raises an
 * event for at this moment is skipped: that event cannot be seen yet, and whoever raises it relies on the time that the lane has.
 */
export async function releaseLanes(
  tx: Transaction,
  ids: Iterable<string>,
  { owner }: Lease,
): Promise<{ id: string; next_due: number | null }[]> {
  const locked = await tx.list(lockHeld, { ids: keysOf(ids), owner })
  if (locked.length === 0) return []
  // A statement of its own: it sees what was committed before the rows were locked.
  return tx.list(release, { ids: keysOf(locked.map(({ id }) => id)), owner })
}

/** A list as both databases read it: the keys of an object. */
export function keysOf(ids: Iterable<string | number>): object {
  const keys: Record<string, 1> = {}
  for (const id of ids) keys[id] = 1
  return keys
}
