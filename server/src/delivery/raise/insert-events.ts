import { defineWithSteps } from '../../db/statement.ts'
import { defineTogether } from '../../db/together.ts'
import { insertAtOnce, insertIntoLanes, insertMoreAtOnce } from './raise-postgres.ts'
import { insertInSteps, insertMoreInSteps } from './raise-sqlite.ts'

/** Stores events with their deliveries; those for a missing lane come back without one. */
export const insertEvents = defineWithSteps(insertAtOnce, insertInSteps)

/** The same for a statement whose rows are awaited only after the commit: it refuses the transaction when a lane is missing. */
export const insertEventsDeferred = defineTogether(insertIntoLanes, {
  statement: insertIntoLanes,
  mayJoin: (one, other) => one.now === other.now,
  join: (all) => ({
    now: all[0]?.now,
    events: all.flatMap(({ events }) => events).map((event, n) => ({ ...event, n })),
  }),
  split: (rows, all) => {
    let end = 0
    return all.map(({ events }) => {
      const start = end
      end += events.length
      return rows.filter(({ n }) => n >= start && n < end).map((row) => ({ ...row, n: row.n - start }))
    })
  },
})

/** Stores the deliveries of an existing event in lanes that were just made. */
export const insertMore = defineWithSteps(insertMoreAtOnce, insertMoreInSteps)
