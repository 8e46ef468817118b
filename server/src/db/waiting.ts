import { type RawBuilder, sql } from 'kysely'

/**
 * The condition of the indexes of what waits: of all that does, and of a conversation. What knows the id or the lane of a delivery asks for
 * `state = 'waiting'`, by which the planner cannot choose them: statistics of a moment when nothing waited make them look short.
 */
export function isAmongWaiting(table = 'deliveries'): RawBuilder<boolean> {
  return sql`${sql.ref(`${table}.state`)} || '' = 'waiting'`
}
