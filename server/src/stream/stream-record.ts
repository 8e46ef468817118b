import { sql } from 'kysely'
import type { Transaction } from '../db/database.ts'
import { defineSql, defineWithRows, type Statement } from '../db/statement.ts'
import { defineTogether } from '../db/together.ts'

/** The name of the users' stream among the wanted ones. */
export const usersStream = 'users'

/** An entry of the users' stream. */
export interface NewStreamEvent {
  readonly type: 'message' | 'status' | 'typing' | 'call'
  readonly phone_number_id: string
  /** Null: it is about a whole group. */
  readonly user_wa_id: string | null
  readonly group_id?: string | null
  readonly message_id?: string
  /** What is sent, without contents; a message is read when it is sent. */
  readonly data?: object
}

interface Recorded {
  readonly events: Readonly<Record<string, readonly unknown[]>>
  readonly now: number
}

const isWanted = ({ now }: Recorded) =>
  sql`EXISTS (SELECT 1 FROM wanted_streams w WHERE w.name = ${sql.lit(usersStream)} AND w.wanted_until > ${now})`

// Nothing is stored when nobody listens: then it costs a look at a table of one row.
const insertIfWanted: Statement<Recorded, unknown> = defineTogether(
  defineWithRows(
    defineSql<Recorded>()(
      ({ events, now }) => sql`
    INSERT INTO stream_events (type, phone_number_id, user_wa_id, group_id, message_id, data, created_time)
    SELECT o.value ->> 0, o.value ->> 1, o.value ->> 2, o.value ->> 3, o.value ->> 4, o.value ->> 5, CAST(${now} AS BIGINT)
    FROM json_each(${events}) AS o
    WHERE ${isWanted({ events, now })}
    ORDER BY o.key`,
    ),
    ([now, type, phone_number_id, user_wa_id, group_id, message_id, data]) => sql`
    INSERT INTO stream_events (type, phone_number_id, user_wa_id, group_id, message_id, data, created_time)
    VALUES (${type}, ${phone_number_id}, ${user_wa_id}, ${group_id}, ${message_id}, ${data}, ${now})`,
    ({ events, now }) => Object.values(events).map((row) => [now, ...row]),
    {
      statement: defineSql<Recorded>()(
        () => sql<object>`SELECT wanted_until FROM wanted_streams WHERE name = ${sql.lit(usersStream)}`,
      ),
      isMet: (row, { now }) => (row as { wanted_until: number }).wanted_until > now,
    },
  ),
  {
    get statement() {
      return insertIfWanted
    },
    join: (all) => ({
      now: Math.max(...all.map(({ now }) => now)),
      events: keyInOrder(all.flatMap(({ events }) => Object.values(events))),
    }),
  },
)

/**
 * Records entries of the users' stream, in the transaction of their cause, if somebody listens or may come back. Given as a function,
 * they are made only then, in the embedded store.
 */
export function recordForStream(
  tx: Transaction,
  now: number,
  given: readonly NewStreamEvent[] | (() => readonly NewStreamEvent[]),
): void {
  if (given.length === 0 && typeof given !== 'function') return
  tx.run(insertIfWanted, {
    now,
    get events() {
      return rowsOf(typeof given === 'function' ? given() : given)
    },
  })
}

function rowsOf(events: readonly NewStreamEvent[]): Recorded['events'] {
  return keyInOrder(
    events.map(({ type, phone_number_id, user_wa_id, group_id = null, message_id = null, data }) => [
      type,
      phone_number_id,
      user_wa_id,
      group_id,
      message_id,
      data ? JSON.stringify(data) : null,
    ]),
  )
}

function keyInOrder(rows: readonly (readonly unknown[])[]): Recorded['events'] {
  return Object.fromEntries(rows.map((row, index) => [`n${String(index).padStart(5, '0')}`, row]))
}
