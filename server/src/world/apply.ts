import { sql } from 'kysely'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Database, Transaction } from '../db/database.ts'
import { defineSql } from '../db/statement.ts'
import { isUniqueViolation } from '../db/unique.ts'
import { Tally, type WriteContext } from '../world-part/part.ts'
import { Problems } from '../world-part/problems.ts'
import { checkAgainstStore, checkFile } from './check.ts'
import { isStoreEmpty } from './empty.ts'
import { checkSecrets } from './guessable-secrets.ts'
import { listEntries, type World } from './list.ts'
import { worldParts } from './parts.ts'

/** How many entries were made, changed and left alone. A profile, a share or a link to an app is an entry of its own. */
export type WorldSummary = Readonly<Record<'created' | 'updated' | 'unchanged', number>>

export interface ApplyOptions {
  /** Whether secrets that can be guessed are refused: known ones of the demo, and short ones. Left out: no. */
  readonly production?: boolean
  /** Reports what the file says and was not done, in a line with its place. */
  readonly warn?: (line: string) => void
}

/**
 * Brings a store to what a world file says: creates or updates, never deletes; keys that the file leaves out stay as they are,
 * and a list of others that something is tied to is taken as it stands: who is not in it is tied no more.
 * One transaction, so that a file that is refused, or a process that dies, leaves nothing behind. A world that is applied
 * again changes nothing. Throws WorldRefused.
 */
export async function applyWorld(
  database: Database,
  clock: Clock,
  random: Random,
  world: World,
  options: ApplyOptions = {},
): Promise<WorldSummary> {
  const write = await prepareWorld(clock, random, world, options)
  return transact(database, write)
}

/**
 * The same for a store that is still empty, and nothing otherwise. It looks when no other world is being applied: of processes that start at
 * the same moment one fills the store, and the others find what it holds by then, maybe changed already.
 */
export async function applyWorldIfEmpty(
  database: Database,
  clock: Clock,
  random: Random,
  world: World,
  options: ApplyOptions = {},
): Promise<WorldSummary | undefined> {
  const write = await prepareWorld(clock, random, world, options)
  return transact(database, async (tx) => ((await isStoreEmpty(tx)) ? write(tx) : undefined))
}

/** The number of the lock that whoever applies a world holds. */
const applyLock = 7_281_002
const takeApplyLock = defineSql<object>()(() => sql`SELECT pg_advisory_xact_lock(${sql.lit(applyLock)})`)
/** So often others may take a value that must be unique between the check and the writing. */
const maxTries = 5

/**
 * One world is applied at a time; everybody else goes on. Where somebody took a value meanwhile that must be unique (a phone number, a
 * QR code), the next try finds it there, and says so with its place.
 */
async function transact<T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await database.transaction(async (tx) => {
        tx.lock(takeApplyLock, {})
        return work(tx)
      })
    } catch (error) {
      if (!isUniqueViolation(error) || tries === maxTries) throw error
    }
  }
}

/** All that can be done before the transaction. */
async function prepareWorld(
  clock: Clock,
  random: Random,
  world: World,
  { production = false, warn = () => undefined }: ApplyOptions,
): Promise<(tx: Transaction) => Promise<WorldSummary>> {
  const fileProblems = new Problems()
  const entries = await listEntries(world.content, fileProblems)
  await checkFile(entries, fileProblems)
  if (production) checkSecrets(entries, fileProblems)
  return async (tx) => {
    const problems = fileProblems.copy()
    const { nodes, releases } = await checkAgainstStore(tx, entries, problems)
    problems.refuseIfAny(world.name)
    const now = clock.now()
    const context: WriteContext = {
      tx,
      now,
      random,
      tools: { clock: { now: () => now }, random },
      tally: new Tally(),
      knownNodes: nodes,
      warn: (place, problem) => warn([world.name, place, problem].join(': ')),
    }
    for (const release of releases) await release(tx)
    for (const part of worldParts) await part.write(entries.of(part), context)
    return { ...context.tally }
  }
}
