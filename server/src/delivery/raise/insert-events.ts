import { defineWithSteps } from '../../db/statement.ts'
import { defineTogether } from '../../db/together.ts'
import { insertAtOnce, insertMoreAtOnce, selectMissingLanes } from './raise-postgres.ts'
import { insertInSteps, insertMoreInSteps } from './raise-sqlite.ts'

/** Stores events with their deliveries. On a database server it signals when a lane is missing. */
export const insertEvents = defineTogether(defineWithSteps(insertAtOnce, insertInSteps), {
  statement: insertAtOnce,
  mayJoin: (one, other) => one.now === other.now,
  join: (all) => ({
    now: all[0]?.now,
    events: all.flatMap(({ events }) => events).map((event, n) => ({ ...event, n })),
  }),
  split(rows, all) {
    let end = 0
    return all.map(({ events: { length } }) => {
      const start = end
      end += length
      return rows.filter(({ n }) => n >= start && n < end).map((row) => ({ ...row, n: row.n - start }))
    })
  },
})

/** Where events go for which there is no lane yet; the embedded database makes one when it stores them. */
export const findMissingLanes = defineWithSteps(selectMissingLanes, () => [])

/** Stores the deliveries of an existing event in lanes that were just made. */
export const insertMore = defineWithSteps(insertMoreAtOnce, insertMoreInSteps)
