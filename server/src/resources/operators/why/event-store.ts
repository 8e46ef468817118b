import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../db/database.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import { isSeen } from '../limits.ts'

export interface EventFacts {
  readonly id: number
  readonly account_id: string
  readonly phone_number_id: string | null
  readonly field: string
  readonly trace: string | null
  readonly subject_id: string | null
}

/** A message to a large group has more; then the first are judged. */
const maxEvents = 1000
/** How many events that were raised at the time of a message are looked at for it. */
const lookedAt = 1000

const owner = { account: sql.ref<string>('events.account_id') }
const columns = sql`id, account_id, phone_number_id, field, trace, subject_id`

/** The events about a message or call that an operator sees, by its id. */
export async function listEventsOfSubjectForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  id: string,
): Promise<EventFacts[]> {
  return select(db, sql`subject_id = ${id} AND ${isSeen(limits, owner)}`)
}

export async function listEventsOfTraceForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  trace: string,
): Promise<EventFacts[]> {
  return select(db, sql`trace = ${trace} AND ${isSeen(limits, owner)}`)
}

export async function findEventForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  id: number,
): Promise<EventFacts | undefined> {
  return (await select(db, sql`id = ${id} AND ${isSeen(limits, owner)}`))[0]
}

async function select(db: Db, where: RawBuilder<boolean>): Promise<EventFacts[]> {
  const { rows } = await sql<EventFacts>`
    SELECT ${columns} FROM events WHERE ${where} ORDER BY id LIMIT ${sql.lit(maxEvents)}`.execute(db.query)
  return rows
}

/**
 * The events that name a message, among the first that were raised since it came: for one that shares its event with an earlier message
 * of its user, and for one of an earlier version, whose events are not found by its id.
 */
export async function searchEventsForOperators(
  db: Db,
  limits: OperatorLimits | undefined,
  { id, phone_number_id, created_time }: { id: string; phone_number_id: string; created_time: number },
): Promise<EventFacts[]> {
  const { rows } = await sql<EventFacts & { value: string }>`
    SELECT ${columns}, value FROM (
      SELECT ${columns}, value, created_time FROM events WHERE created_time >= ${created_time}
      ORDER BY created_time LIMIT ${sql.lit(lookedAt)}
    ) AS events
    WHERE phone_number_id = ${phone_number_id} AND field = 'messages' AND ${isSeen(limits, owner)} ORDER BY id`.execute(
    db.query,
  )
  const named = JSON.stringify(id)
  return rows.filter(({ value }) => value.includes(named)).map(({ value: _, ...event }) => event)
}
