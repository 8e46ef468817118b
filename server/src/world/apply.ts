import { sql } from 'kysely'
import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
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

/** How many entries were created, changed and left alone. A profile, a share or a link to an app is a separate entry. */
export type WorldSummary = Readonly<Record<'created' | 'updated' | 'unchanged', number>>

export interface ApplyOptions {
  /** Whether guessable secrets are refused: those of the demo, and short ones. By default no. */
  readonly production?: boolean
  /** Whether ids may be longer than a number can hold. By default no. */
  readonly longIds?: boolean
  /** Reports a part of the file that was not applied, in a line with its place. */
  readonly warn?: (line: string) => void
}

/**
 * Applies a world file to a store: creates or updates, never deletes. Keys that the file leaves out stay as they are; a list of links
 * replaces the stored list. One transaction, so that a refused file or a process that dies leaves nothing behind. Applying a world
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
 * The same for an empty store; does nothing otherwise. The check waits for other worlds being applied: of processes that start together
 * one fills the store, and the others find its contents, perhaps already changed.
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

/** The number of the lock held while a world is applied. */
const applyLock = 7_281_002
const takeApplyLock = defineSql<object>()(() => sql`SELECT pg_advisory_xact_lock(${sql.lit(applyLock)})`)
/** How often others may take a unique value between the check and the write. */
const maxTries = 5

/**
 * One world is applied at a time; all other work continues. When somebody takes a unique value meanwhile (a phone number, a QR code),
 * the next attempt finds it, and reports it with its place.
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

/** The same inside a transaction that somebody else ends. Others may take a unique value meanwhile: then it fails. */
export async function prepareApply(
  clock: Clock,
  random: Random,
  world: World,
  options: ApplyOptions = {},
): Promise<(tx: Transaction) => Promise<WorldSummary>> {
  const write = await prepareWorld(clock, random, world, options)
  return (tx) => {
    tx.lock(takeApplyLock, {})
    return write(tx)
  }
}

/** Everything that can be done before the transaction; returns what is left to do in it. */
export async function prepareWorld(
  clock: Clock,
  random: Random,
  world: World,
  { production = false, longIds = false, warn = () => undefined }: ApplyOptions,
): Promise<(tx: Transaction) => Promise<WorldSummary>> {
  const fileProblems = new Problems()
  const entries = await listEntries(world.content, fileProblems, longIds)
  await checkFile(entries, fileProblems)
  if (production) checkSecrets(entries, fileProblems)
  return async (tx) => {
    const problems = fileProblems.copy()
    const now = clock.now()
    const { nodes, releases } = await checkAgainstStore(tx, entries, problems, now)
    problems.refuseIfAny(world.name)
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
