import { type RawBuilder, sql } from 'kysely'

/**
 * How a statement of PostgreSQL stops its transaction because something is not as it must be. What follows a statement may be sent with
 * it, the commit too, so the database itself must refuse it. An expression does: it reads a sentence of ours as a number, and no other
 * fault has this sentence. A function that raises an error of its own would be missing in a database that an older version migrated, or
 * beside a search path of somebody else.
 */
const sentence = 'switchboard: a condition is not met'
const [start, end] = ['CAST(CASE WHEN ', ` THEN '1' ELSE '${sentence}' END AS INTEGER)`]
/** What PostgreSQL cannot read as a value of a type. */
const unreadableCode = '22P02'

/** An expression that is 1, and signals where the condition is false or null. It must be evaluated, so something has to select it. */
export function signalUnless(condition: RawBuilder<unknown>): RawBuilder<number> {
  return sql`${sql.raw(start)}${condition}${sql.raw(end)}`
}

/** A statement that signals unless the given one returns a row. */
export function signalUnlessRow(text: string): string {
  return `WITH required AS (${text}) SELECT ${start}EXISTS (SELECT 1 FROM required)${end}`
}

/** Whether a statement failed by its signal. */
export function isSignal(error: { readonly code?: unknown; readonly message?: unknown }): boolean {
  return error.code === unreadableCode && typeof error.message === 'string' && error.message.includes(sentence)
}
