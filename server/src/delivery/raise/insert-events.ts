import { defineWithSteps } from '../../db/statement.ts'
import { insertAtOnce, insertIntoLanes, insertMoreAtOnce } from './raise-postgres.ts'
import { insertInSteps, insertMoreInSteps } from './raise-sqlite.ts'

/** Stores events with their deliveries; those for a missing lane come back without one. */
export const insertEvents = defineWithSteps(insertAtOnce, insertInSteps)

/** The same for a statement whose rows are awaited only after the commit: it refuses the transaction when a lane is missing. */
export const insertEventsDeferred = insertIntoLanes

/** Stores the deliveries of an existing event in lanes that were just made. */
export const insertMore = defineWithSteps(insertMoreAtOnce, insertMoreInSteps)
